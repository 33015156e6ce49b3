/* site_table.c - the twenty sites. The first fifteen are calm: a crawl gets through them without waiting. */
#include "sample/sites.h"

#include "sample/texts.h"

/* ---- specials: path, title, kind, what to expect, linked, number, text ---- */

static const struct special harbour[] = {
    {"/private/ledger.html", "The harbour master's ledger", SP_PAGE, EXPECT_REFUSED, true, 0, NULL},
    {"/private/open.html", "Harbour dues", SP_PAGE, EXPECT_PAGE, true, 0,
     "Harbour dues are paid by length: four pounds a metre and a week, boats under five metres half. Visitors pay at "
     "the custom house before noon.\n"},
    {"/print.html?page=1", "Print this page", SP_PAGE, EXPECT_REFUSED, true, 0, NULL},
    {"/report.pdf", "Yearly report", SP_FILE, EXPECT_DOCUMENT, true, 0, "application/pdf"},
    {"/caf%C3%A9.html", "Café on the pier", SP_PAGE, EXPECT_PAGE, true, 0,
     "The café on the pier opens with the first ferry and closes when the soup is gone. Crab sandwiches on Fridays.\n"},
    {"/search?q=boats&lang=en", "Search for boats", SP_PAGE, EXPECT_PAGE, true, 0,
     "Twelve boats were found. They are where you left them.\n"},
    {"/signpost.html", "The signpost in six languages", SP_ARTICLE, EXPECT_PAGE, true, ARTICLE_SIGNPOST, NULL},
    {"/tides.html", "Tide table of this week", SP_CHANGING, EXPECT_PAGE, true, 4,
     "High water and low water at the pier, with the height above chart datum. The table is renewed by hand.\n"},
};

static const struct special museum[] = {
    {"/old/1", "Die alte Seite", SP_REDIRECT, EXPECT_REDIRECT, true, 301, "/old/2"},
    {"/old/2", "Die ältere Seite", SP_REDIRECT, EXPECT_REDIRECT, false, 302, "/old/3"},
    {"/old/3", "Die älteste Seite", SP_REDIRECT, EXPECT_REDIRECT, false, 307, "/new.html"},
    {"/new.html", "Neu im Museum: ein Brief des Uhrmachers", SP_PAGE, EXPECT_PAGE, false, 0,
     "Der Brief des Uhrmachers Lenz lag in seinem Fernrohr und wurde erst bei der Reinigung entdeckt. Er beschreibt "
     "den Kometen von 1811.\n"},
    {"/round/a", "Rundgang, Anfang", SP_REDIRECT, EXPECT_REDIRECT, true, 302, "/round/b"},
    {"/round/b", "Rundgang, Ende", SP_REDIRECT, EXPECT_REDIRECT, false, 302, "/round/a"},
    {"/moved", "Der Museumsgarten", SP_REDIRECT, EXPECT_REDIRECT, true, 308, "//garden.example/"},
    {"/away", "Das geschlossene Haus", SP_REDIRECT, EXPECT_REDIRECT, true, 301, "//nowhere.example/"},
    {"/far/", "Der lange Gang", SP_FAR, EXPECT_TRAP, true, 0, NULL},
    {"/druck/turmuhr.html", "Druckfassung: die Turmuhr", SP_COPY, EXPECT_PAGE, true, COPY_PRINT, "/sammlung/turmuhr/"},
};

static const struct special garden[] = {
    {"/missing.html", "La page arrachée", SP_STATUS, EXPECT_GONE, true, 404, NULL},
    {"/felled.html", "Le tilleul abattu", SP_STATUS, EXPECT_GONE, true, 410, NULL},
    {"/wilted.html", "La rose fanée", SP_STATUS, EXPECT_ERROR, true, 500, NULL},
    {"/packed.html", "Le panier de la semaine", SP_GZIP, EXPECT_PAGE, true, 0, NULL},
    {"/pressed.html", "L'herbier pressé", SP_ZSTD, EXPECT_PAGE, true, 0, NULL},
    {"/latin.html", "Les noms latins", SP_LATIN1, EXPECT_PAGE, true, 0, NULL},
    {"/imprimer/poirier.html", "À imprimer : le poirier d'hiver", SP_COPY, EXPECT_PAGE, true,
     COPY_PRINT | COPY_CANONICAL, "/plantes/poirier/"},
};

static const struct special library[] = {
    {"/catalogue.csv", "Catálogo completo", SP_FILE, EXPECT_DOCUMENT, true, 0, "text/csv"},
    {"/cover.png", "Cubierta", SP_FILE, EXPECT_DOCUMENT, true, 0, "image/png"},
    {"/readme.txt", "Léeme", SP_FILE, EXPECT_PAGE, true, 0, "text/plain; charset=utf-8"},
    {"/app.html", "App", SP_SCRIPT, EXPECT_PAGE, true, 0, NULL},
    {"/quiet.html", "Borrador sin publicar", SP_META, EXPECT_PAGE, true, 0, "noindex"},
    {"/stop.html", "Depósito cerrado", SP_META, EXPECT_PAGE, true, 7, "noindex, nofollow"},
    {"/behind-stop.html", "Detrás del depósito", SP_PAGE, EXPECT_HIDDEN, false, 0, NULL},
    {"/tagged.html", "Ficha interna", SP_HEADER, EXPECT_PAGE, true, 0, "noindex"},
    {"/base.html", "Estanterías", SP_LINKS, EXPECT_PAGE, true, 0,
     "<base href=\"/shelf/deep/\"><a href=\"../target.html\">la estantería del fondo</a>"},
    {"/shelf/target.html", "La estantería del fondo", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
    {"/frames.html", "Plano de la biblioteca", SP_LINKS, EXPECT_PAGE, true, 0,
     "<iframe src=\"/framed.html\"></iframe><map name=\"m\"><area href=\"/area.html\" alt=\"el patio\"></map>"},
    {"/framed.html", "Planta baja", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
    {"/area.html", "El patio", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
    {"/turn.html", "Cambio de sala", SP_LINKS, EXPECT_PAGE, true, 0,
     "<meta http-equiv=\"refresh\" content=\"5; url=/turned.html\">"},
    {"/turned.html", "La sala nueva", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
    {"/votes.html", "Opiniones de los lectores", SP_LINKS, EXPECT_PAGE, true, 0,
     "<a rel=\"nofollow\" href=\"/unvoted.html\">una opinión ajena</a> <a href=\"mailto:a@library.example\">correo</a> "
     "<a href=\"javascript:void(0)\">script</a> <a href=\"http://outside.example/\">fuera</a> <!-- <a "
     "href=\"/comment.html\"> -->"},
    {"/unvoted.html", "Una opinión ajena", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
};

static const struct special orchard[] = {
    {"/twin/a.html", "Το πορτοκάλι, πρώτη έκδοση", SP_COPY, EXPECT_PAGE, true, 0, "/karpoi/portokali/istoria.html"},
    {"/twin/b.html", "Το πορτοκάλι, δεύτερη έκδοση", SP_COPY, EXPECT_PAGE, true, COPY_CANONICAL,
     "/karpoi/portokali/istoria.html"},
    {"/twin/c.html", "Το πορτοκάλι, τρίτη έκδοση", SP_COPY, EXPECT_PAGE, true, COPY_DATED,
     "/karpoi/portokali/istoria.html"},
    {"/shop/", "Το μαγαζί", SP_SESSION, EXPECT_PAGE, true, 0,
     "/shop/ /shop/item1.html /shop/item2.html /shop/view?id=3"},
    {"/shop/item1.html", "Μαρμελάδα πορτοκάλι", SP_SESSION, EXPECT_PAGE, false, 0, "/shop/ /shop/item2.html"},
    {"/shop/item2.html", "Γλυκό νεράντζι", SP_SESSION, EXPECT_PAGE, false, 0, "/shop/ /shop/item1.html"},
    {"/shop/view?id=3", "Λάδι της χρονιάς", SP_SESSION, EXPECT_PAGE, false, 0, "/shop/"},
};

static const struct special station[] = {
    {"/timetable.html", "今週の時刻表", SP_CHANGING, EXPECT_PAGE, true, 3, NULL},
    {"/delays.html", "遅れのお知らせ", SP_CHANGING, EXPECT_PAGE, true, 1, NULL},
};

static const struct special observatory[] = {
    {"/eclipse.html", "The partial eclipse as we saw it", SP_ARTICLE, EXPECT_PAGE, true, ARTICLE_ECLIPSE, NULL},
    {"/staraya.html", "Старая страница обсерватории", SP_CP1251, EXPECT_PAGE, true, 0, NULL},
    {"/chleny.html", "Только для членов клуба", SP_META, EXPECT_PAGE, true, 0, "nosnippet"},
    {"/pechat/saturn.html", "Для печати: Сатурн", SP_COPY, EXPECT_PAGE, true, COPY_PRINT | COPY_CANONICAL,
     "/nebo/saturn/"},
    {"/sitemap.xml", "Карта сайта", SP_LIST, EXPECT_LIST, false, LIST_INDEX,
     "/sitemap-pages.xml /sitemap-archive.xml.gz"},
    {"/sitemap-pages.xml", "Карта страниц", SP_LIST, EXPECT_LIST, false, LIST_URLSET,
     "/ /nebo/ /instruments/ /eclipse.html /staraya.html"},
    {"/sitemap-archive.xml.gz", "Карта архива", SP_LIST, EXPECT_LIST, false, LIST_URLSET | LIST_GZIP,
     "/arkhiv/kometa-1811.html"},
    {"/arkhiv/kometa-1811.html", "Комета 1811 года", SP_PAGE, EXPECT_PAGE, false, 0,
     "Комету 1811 года видели с холма девять месяцев. Записи о ней лежат в архиве, и ни одна страница на них не "
     "ссылается.\n"},
};

static const struct special bakery[] = {
    {"/hydration-table.html", "Sourdough hydration table", SP_ARTICLE, EXPECT_PAGE, true, ARTICLE_HYDRATION, NULL},
    {"/print/country-sourdough.html", "Print: country sourdough recipe", SP_COPY, EXPECT_PAGE, true,
     COPY_PRINT | COPY_CANONICAL, "/bread/country-sourdough/recipe.html"},
    {"/print/dark-rye.html", "Print: dark rye recipe", SP_COPY, EXPECT_PAGE, true, COPY_PRINT,
     "/bread/dark-rye/recipe.html"},
    {"/blog/walnut-loaf.html", "From the blog: the walnut loaf", SP_COPY, EXPECT_PAGE, true, COPY_DATED,
     "/bread/walnut-loaf/history.html"},
    {"/blog/walnut-loaf-again.html", "From the blog, once more: the walnut loaf", SP_COPY, EXPECT_PAGE, true,
     COPY_DATED, "/bread/walnut-loaf/history.html"},
    {"/orders/basket.html", "Your basket", SP_PAGE, EXPECT_REFUSED, true, 0, NULL},
    {"/today.html", "Today's bread", SP_CHANGING, EXPECT_PAGE, true, 2,
     "What is in the oven today, and what is left of it. The list is written by hand and changes while you read it.\n"},
    {"/sourdough", "Sourdough", SP_REDIRECT, EXPECT_REDIRECT, true, 301, "/bread/country-sourdough/"},
    {"/price-list.pdf", "Price list", SP_FILE, EXPECT_DOCUMENT, true, 0, "application/pdf"},
    {"/feed.xml", "News from the oven", SP_LIST, EXPECT_LIST, false, LIST_RSS,
     "/today.html /blog/chestnut-loaf.html /bread/dark-rye/"},
    {"/blog/chestnut-loaf.html", "From the blog: the chestnut loaf", SP_PAGE, EXPECT_PAGE, false, 0,
     "The chestnut loaf is baked for three weeks in autumn. It is told of in the feed, and nowhere else.\n"},
};

static const struct special skein[] = {
    {"/notes/escaping.html", "Showing <script>alert(1)</script> as text", SP_ARTICLE, EXPECT_PAGE, true,
     ARTICLE_ESCAPING, NULL},
    {"/v0/ring_buffer.html", "Ring buffer in version 0", SP_COPY, EXPECT_PAGE, true, COPY_DATED,
     "/std/ring_buffer/reference.html"},
    {"/v0/hash_map.html", "Hash map in version 0", SP_COPY, EXPECT_PAGE, true, COPY_DATED | COPY_CANONICAL,
     "/std/hash_map/reference.html"},
    {"/latest/timer_wheel.html", "Timer wheel, latest", SP_COPY, EXPECT_PAGE, true, COPY_EXACT, "/std/timer_wheel/"},
    {"/drafts/coroutines.html", "Draft: coroutines", SP_META, EXPECT_PAGE, true, 0, "noindex"},
    {"/license.txt", "Licence", SP_FILE, EXPECT_PAGE, true, 0, "text/plain; charset=utf-8"},
    {"/CHANGES.md", "Changes", SP_MARKDOWN, EXPECT_PAGE, true, 0,
     "The **ring buffer** is a queue again. Before you move, read [how to upgrade][u].\n\n[u]: notes/upgrade.html"},
    {"/notes/upgrade.html", "How to upgrade from version 0", SP_PAGE, EXPECT_PAGE, false, 0,
     "Recompile everything, then run the checker with the flag for old code. Nothing else is needed.\n"},
    {"/playground.html", "Playground", SP_SCRIPT, EXPECT_PAGE, true, 0, NULL},
    {"/internal/todo.html", "To do", SP_PAGE, EXPECT_REFUSED, true, 0, NULL},
    {"/ringbuffer", "ringbuffer", SP_REDIRECT, EXPECT_REDIRECT, true, 308, "/std/ring_buffer/"},
};

static const struct special cucina[] = {
    {"/pomodori.html", "Conservare i pomodori", SP_ARTICLE, EXPECT_PAGE, true, ARTICLE_WRONG_LANG, NULL},
    {"/stampa/ribollita.html", "Da stampare: la ribollita", SP_COPY, EXPECT_PAGE, true, COPY_PRINT | COPY_CANONICAL,
     "/ricette/ribollita/"},
    {"/stampa/caponata.html", "Da stampare: la caponata", SP_COPY, EXPECT_PAGE, true, COPY_PRINT, "/ricette/caponata/"},
    {"/zuppa", "Zuppa", SP_REDIRECT, EXPECT_REDIRECT, true, 302, "/ricette/ribollita/"},
    {"/privato/conti.html", "I conti della spesa", SP_PAGE, EXPECT_REFUSED, true, 0, NULL},
    {"/oggi.html", "Che cosa si cucina oggi", SP_CHANGING, EXPECT_PAGE, true, 2, NULL},
};

static const struct special bergbahn[] = {
    {"/winter.html", "Winterfahrplan: alle Änderungen", SP_ARTICLE, EXPECT_PAGE, true, ARTICLE_WINTER, NULL},
    {"/winter", "Winter", SP_REDIRECT, EXPECT_REDIRECT, true, 302, "/strecken/steinhorn/fahrplan-winter.html"},
    {"/aktuell.html", "Aktuelle Störungen", SP_CHANGING, EXPECT_PAGE, true, 1,
     "Der Betrieb läuft nach Plan, soweit der Berg es zulässt. Störungen werden hier gemeldet, sobald jemand zum "
     "Schreiben kommt.\n"},
    {"/fahrplan.pdf", "Fahrplan als Faltblatt", SP_FILE, EXPECT_DOCUMENT, true, 0, "application/pdf"},
    {"/druck/gletscher-winter.html", "Druckfassung: Gletscherbahn im Winter", SP_COPY, EXPECT_PAGE, true, COPY_PRINT,
     "/strecken/gletscher/fahrplan-winter.html"},
};

static const struct special birds[] = {
    {"/print/kingfisher.html", "Print: a morning with the kingfisher", SP_COPY, EXPECT_PAGE, true, COPY_PRINT,
     "/birds/kingfisher/diary.html"},
    {"/archive/bittern.html", "Bittern, copied from the old book", SP_COPY, EXPECT_PAGE, true, COPY_EXACT,
     "/birds/bittern/"},
    {"/links/telescope.html", "A neighbour's telescope", SP_COPY, EXPECT_PAGE, true, COPY_CANONICAL,
     "//observatory.example/instruments/robot-telescope/"},
    {"/today.html", "Seen today", SP_CHANGING, EXPECT_PAGE, true, 1,
     "What was seen from the hide today, in the order of the book. Rarities are told after dark only.\n"},
    {"/list.csv", "List of species", SP_FILE, EXPECT_DOCUMENT, true, 0, "text/csv"},
    {"/nests.html", "Where the nests are", SP_PAGE, EXPECT_REFUSED, true, 0, NULL},
    {"/atom.xml", "New in the hide", SP_LIST, EXPECT_LIST, false, LIST_ATOM, "/today.html /rarity.html"},
    {"/rarity.html", "A rarity, told after dark", SP_PAGE, EXPECT_PAGE, false, 0,
     "A nutcracker sat on the hide for eleven minutes. Only those who read the feed were told.\n"},
};

static const struct special council[] = {
    {"/horario.html", "Horário e contactos", SP_ARTICLE, EXPECT_PAGE, true, ARTICLE_NO_LANG_PT, NULL},
    {"/atas/2009.html", "Ata de 2009", SP_STATUS, EXPECT_GONE, true, 410, NULL},
    {"/edital.pdf", "Edital", SP_FILE, EXPECT_DOCUMENT, true, 0, "application/pdf"},
    {"/avisos.html", "Avisos", SP_HEADER, EXPECT_PAGE, true, 0, "noarchive"},
    {"/interno/faturas.html", "Faturas", SP_PAGE, EXPECT_REFUSED, true, 0, NULL},
    {"/copia/ponte-velha.html", "A ponte velha, outra vez", SP_COPY, EXPECT_PAGE, true, COPY_DATED,
     "/assuntos/ponte-velha/ata.html"},
};

static const struct special radio[] = {
    {"/blog/heron-again.html", "The Heron 5, posted again", SP_COPY, EXPECT_PAGE, true, COPY_DATED,
     "/sets/heron-5/repair.html"},
    {"/print/seafarer.html", "Print: the circuit of the Seafarer", SP_COPY, EXPECT_PAGE, true,
     COPY_PRINT | COPY_CANONICAL, "/sets/seafarer/circuit.html"},
    {"/members.html", "For members: valve stock", SP_META, EXPECT_PAGE, true, 0, "nosnippet"},
    {"/zipped.html", "Parts for sale", SP_GZIP, EXPECT_PAGE, true, 0, NULL},
    {"/burnt.html", "The burnt transformer", SP_STATUS, EXPECT_ERROR, true, 500, NULL},
    {"/lost.html", "The lost service sheet", SP_STATUS, EXPECT_GONE, true, 404, NULL},
    {"/sitemap.txt", "All pages", SP_LIST, EXPECT_LIST, false, LIST_TEXT, "/ /sets/ /attic.html"},
    {"/attic.html", "Found in the attic", SP_PAGE, EXPECT_PAGE, false, 0,
     "A crystal set without its crystal, and a box of headphones. Nobody has made a link to this page yet.\n"},
};

static const struct special university[] = {
    {"/zh-library.html", "图书馆的开放时间", SP_ARTICLE, EXPECT_PAGE, true, ARTICLE_WRONG_ZH, NULL},
    {"/ko-dormitory.html", "기숙사 생활 안내", SP_ARTICLE, EXPECT_PAGE, true, ARTICLE_NO_LANG_KO, NULL},
    {"/login?next=%2Fgrades", "Your grades", SP_PAGE, EXPECT_REFUSED, true, 0, NULL},
    {"/handbook.pdf", "Handbook", SP_FILE, EXPECT_DOCUMENT, true, 0, "application/pdf"},
    {"/skein", "The language of the compiler course", SP_REDIRECT, EXPECT_REDIRECT, true, 301, "//skein.example/"},
};

static const struct special turtle[] = {
    {"/slow.html", "A walk with Old Hector", SP_SLOW, EXPECT_PAGE, true, 1500,
     "Old Hector sets out after breakfast and is back for it. Whoever walks with him sees every daisy.\n"},
};

static const struct special busy[] = {
    {"/rush.html", "The rush at nine", SP_BUSY, EXPECT_PAGE, true, 2, NULL},
};

static const struct special flaky[] = {
    {"/once.html", "The line that was cut once", SP_DROP, EXPECT_PAGE, true, 1, NULL},
};

static const struct special maze[] = {
    {"/maze/", "Into the maze", SP_MAZE, EXPECT_TRAP, true, 0, NULL},
    {"/calendar", "The calendar without end", SP_CALENDAR, EXPECT_TRAP, true, 0, NULL},
};

/* ---- sites ---- */

#define SPECIALS(a) .specials = a, .special_count = COUNT_OF(a)
#define VALIDATORS .has_etag = true, .has_date = true

const struct site sites[] = {
    {.host = "harbour.example",
     .lang = "en",
     .name = "Port Elm Harbour",
     .motto = "boats, tides and what happens on the pier",
     .about = "The harbour opens at six in the morning, and the first boats leave before the fog has lifted. Here you "
              "find every boat that has a berth, the harbour dues and the tide table.\n"
              "The harbour master lives above the custom house and answers letters.\n",
     .robots_status = 200,
     .robots = "# Two groups, the longest rule wins.\nUser-agent: *\nDisallow: /private/\nAllow: "
               "/private/open.html\nDisallow: /print*page=\n\n"
               "User-agent: badbot\nDisallow: /\n",
     VALIDATORS,
     .themes = {&theme_boats},
     SPECIALS(harbour),
     .neighbours =
         "birds.example/birds/ Birds of the marsh behind the harbour\nuniversity.example/courses/marine-biology/ "
         "Marine Biology on the survey boat\nbakery.example/bread/olive-fougasse/ The fishermen's olive fougasse"},
    {.host = "museum.example",
     .lang = "de",
     .name = "Stadtmuseum Lindental",
     .motto = "Sammlung, Führungen und Geschichten",
     .about = "Das Stadtmuseum zeigt in sechs kleinen Räumen und einem Hof, wie die Stadt vor dem großen Brand aussah. "
              "Jedes Stück hat seine eigene Seite.\n"
              "Wer die Werkstatt besuchen möchte, meldet sich am besten einen Tag vorher beim Pförtner an.\n",
     .robots_status = 404,
     .robots = "",
     .has_etag = true,
     .themes = {&theme_museum},
     SPECIALS(museum),
     .neighbours =
         "bergbahn.example/strecken/ Fahrpläne der Bergbahnen\nobservatory.example/instruments/great-refractor/ Der "
         "große Refraktor der Sternwarte\nlibrary.example/obras/tratado-relojes/ Ein Traktat über Uhren"},
    {.host = "garden.example",
     .lang = "fr",
     .name = "Le jardin de la Source",
     .motto = "plantes, saisons et patience",
     .about = "Le jardin descend en terrasses jusqu'à la rivière. On y cultive des plantes anciennes, et chacune a sa "
              "fiche, avec la plantation, les maladies et la récolte.\n"
              "Les visites guidées partent du banc de pierre, à trois heures.\n",
     .robots_status = 200,
     .robots = "User-agent: *\nDisallow:\n",
     .has_date = true,
     .themes = {&theme_plantes},
     SPECIALS(garden),
     .neighbours = "orchard.example/karpoi/ Un verger au bord de la mer grecque\ncucina.example/ricette/caponata/ Que "
                   "faire des aubergines : la caponata"},
    {.host = "library.example",
     .lang = "es",
     .name = "Biblioteca de Valdeluz",
     .motto = "libros, mapas y cartas",
     .about = "La biblioteca guarda más de nueve mil cartas que nunca llegaron a su destino, y doce obras que merecen "
              "un viaje. Cada una tiene su ficha y su historia.\n"
              "El catálogo empezó en fichas de cartón y todavía conserva la letra de su primera autora.\n",
     .robots_status = 200,
     .robots = "",
     VALIDATORS,
     .themes = {&theme_biblioteca},
     SPECIALS(library),
     .neighbours = "university.example/courses/book-history/ Un curso de historia del "
                   "libro\nmuseum.example/sammlung/globus/ Un globo terráqueo de 1751"},
    {.host = "orchard.example",
     .lang = "el",
     .name = "Το περιβόλι της Ελένης",
     .motto = "καρποί, συνταγές και ιστορίες του χωριού",
     .about = "Το περιβόλι βρίσκεται πίσω από το παλιό σχολείο, κοντά στη θάλασσα. Εδώ θα διαβάσετε για κάθε καρπό "
              "πότε ωριμάζει και τι μαγειρεύουμε με αυτόν.\n"
              "Όποιος περνά από τον δρόμο μπορεί να κόψει ένα πορτοκάλι, αρκεί να πει καλημέρα.\n",
     .robots_status = 404,
     .robots = "",
     VALIDATORS,
     .themes = {&theme_citrus},
     SPECIALS(orchard),
     .neighbours =
         "garden.example/plantes/figuier/ Η συκιά ενός γαλλικού κήπου\ncucina.example/ricette/ Ιταλικές συνταγές"},
    {.host = "station.example",
     .lang = "ja",
     .name = "北山鉄道の駅",
     .motto = "山と海のあいだの十の駅",
     .about = "北山線、川沿い線、岬線の駅を紹介するサイトです。駅ごとに案内、時刻表、歴史、散歩道があります。列車の本数"
              "は少ないので、時刻表をよく見てからお出かけください。\n"
              "待合室はどの駅もきれいに掃除されています。\n",
     .robots_status = 200,
     .robots = "User-agent: *\nAllow: /\n",
     VALIDATORS,
     .themes = {&theme_eki},
     SPECIALS(station),
     .neighbours = "bergbahn.example/strecken/panorama/ 山の国の登山鉄道\nobservatory.example/ 丘の上の天文台"},
    {.host = "observatory.example",
     .lang = "ru",
     .name = "Обсерватория на Сосновой горе",
     .motto = "небо, инструменты и вечера под куполом",
     .about = "Обсерватория стоит на холме, и зимой к ней можно подняться только на лыжах. Здесь рассказано, что видно "
              "на небе, и какими инструментами мы смотрим.\n"
              "The pages about the instruments are in English, for our guests. Страницы о небе — на русском языке.\n",
     .robots_status = 200,
     .robots = "Sitemap: /sitemap.xml\n",
     .themes = {&theme_nebo, &theme_instruments},
     SPECIALS(observatory),
     .neighbours =
         "university.example/courses/statistics/ Курс статистики в университете\nstation.example/eki/hoshino/ Станция, "
         "где рассказывают о звёздах\nbirds.example/birds/nightjar/ The nightjar on the heath below the hill"},
    {.host = "bakery.example",
     .lang = "en",
     .name = "Miller Lane Bakery",
     .motto = "sourdough, rye and rolls since 1874",
     .about = "We bake fourteen breads in an oven that is older than the street. Every bread has a page with its "
              "recipe, its hydration, its history and its faults.\n"
              "The shop opens at half past six. The back door opens at five, for those who know.\n",
     .robots_status = 200,
     .robots = "User-agent: *\nDisallow: /orders/\n",
     .key = "5f2b7c0e9d3a4816",
     VALIDATORS,
     .themes = {&theme_bread},
     SPECIALS(bakery),
     .neighbours =
         "cucina.example/ricette/pane-carasau/ Sardinian music-paper bread\nharbour.example/boats/goose/ The ferry "
         "that brings our flour\nuniversity.example/courses/soil-science/ Soil Science, for those who grow wheat"},
    {.host = "skein.example",
     .lang = "en",
     .name = "Skein documentation",
     .motto = "a small language and its standard library",
     .about = "Skein is a small programming language for programs that run for years. This site documents its standard "
              "library: `RingBuffer`, `HashMap`, `parseHeader` and the rest, with examples, errors and speed.\n"
              "There is a glossary for words that we use too often.\n",
     .robots_status = 200,
     .robots = "User-agent: *\nDisallow: /internal/\nAllow: /\n",
     VALIDATORS,
     .themes = {&theme_skein, &theme_glossary},
     SPECIALS(skein),
     .neighbours = "university.example/courses/compilers/ Compiler Construction, where Skein "
                   "began\nuniversity.example/courses/operating-systems/ Operating Systems\nradio.example/ The Valve "
                   "Bench, where our author unwinds"},
    {.host = "cucina.example",
     .lang = "it",
     .name = "Il quaderno di cucina",
     .motto = "ricette di casa, una alla volta",
     .about = "In questo quaderno ci sono le ricette che a casa nostra si cucinano davvero. Per ognuna trovate la "
              "storia, la spesa e gli errori da evitare.\n"
              "Le fotografie mancano, perché quando il piatto è pronto nessuno vuole aspettare.\n",
     .robots_status = 200,
     .robots = "User-agent: *\nDisallow: /privato\n",
     VALIDATORS,
     .themes = {&theme_ricette},
     SPECIALS(cucina),
     .neighbours =
         "bakery.example/bread/ciabatta/ La ciabatta secondo un fornaio inglese\norchard.example/karpoi/lemoni/ I "
         "limoni di un frutteto greco\ngarden.example/plantes/ Un orto francese"},
    {.host = "bergbahn.example",
     .lang = "de",
     .name = "Bergbahnen Hochtal",
     .motto = "Fahrplan, Preise und Wanderungen",
     .about = "Zehn Bahnen führen aus dem Hochtal hinauf. Hier stehen der Fahrplan für Winter und Sommer, die Preise "
              "und die schönsten Wanderungen ab der Bergstation.\n"
              "Bei Sturm und Gewitter fährt keine Bahn; dann ist das Gasthaus im Tal geöffnet.\n",
     .robots_status = 404,
     .robots = "",
     VALIDATORS,
     .themes = {&theme_strecken},
     SPECIALS(bergbahn),
     .neighbours =
         "station.example/eki/ Ländliche Bahnhöfe in Japan\nmuseum.example/sammlung/ Die Sammlung des Stadtmuseums\n"
         "observatory.example/instruments/planetarium/ Planetarium für Regentage"},
    {.host = "birds.example",
     .lang = "en",
     .name = "The Marsh Diary",
     .motto = "birds seen, heard and missed",
     .about = "Fourteen birds of the marsh behind the harbour, in a diary that several people write. Polish friends "
              "keep pages of their own; they see more storks than we do.\n"
              "The hide is always open. What you see there goes into the book.\n",
     .robots_status = 200,
     .robots = "User-agent: *\nDisallow: /nests.html$\n",
     VALIDATORS,
     .themes = {&theme_birds, &theme_ptaki},
     SPECIALS(birds),
     .neighbours = "harbour.example/boats/halcyon/ The survey boat that counts "
                   "gulls\nobservatory.example/instruments/weather-mast/ Wind at the weather "
                   "mast\ngarden.example/plantes/framboisier/ A garden that feeds blackbirds"},
    {.host = "council.example",
     .lang = "pt",
     .name = "Junta de Freguesia de Santa Luzia",
     .motto = "decisões, atas e orçamentos",
     .about = "A junta publica aqui o que decide: as atas, os orçamentos e as respostas aos moradores. As reuniões são "
              "na primeira quinta-feira de cada mês e a porta fica aberta.\n"
              "Quem não encontra o que procura pode perguntar na secretaria, de manhã.\n",
     .robots_status = 200,
     .robots = "User-agent: *\nDisallow: /interno/\n",
     .has_date = true,
     .themes = {&theme_freguesia},
     SPECIALS(council),
     .neighbours = "library.example/ A biblioteca da cidade vizinha\nharbour.example/ O porto geminado"},
    {.host = "radio.example",
     .lang = "en",
     .name = "The Valve Bench",
     .motto = "old radios, repaired and listened to",
     .about = "A blog about repairing old radios. Every set that crosses the bench gets a page with its data, the "
              "repair, the circuit and a night of listening.\n"
              "We sell nothing, and we never throw a knob away.\n",
     .robots_status = 200,
     .robots = "User-agent: *\nDisallow: /stock/\n",
     VALIDATORS,
     .themes = {&theme_radio},
     SPECIALS(radio),
     .neighbours = "observatory.example/instruments/radio-dish/ A radio dish built by "
                   "students\nharbour.example/boats/northern-light/ The tender that still uses a "
                   "Seafarer\nskein.example/std/ring_buffer/ The ring buffer in our Morse decoder"},
    {.host = "university.example",
     .lang = "en",
     .name = "Brackwater University",
     .motto = "courses, exams and guests from everywhere",
     .about = "The department teaches ten courses, from Graph Theory to Statistics for Everybody. For guests there are "
              "pages in Chinese, Korean, Hindi and Arabic.\n"
              "The porter knows where everything is; the map on the wall does not.\n",
     .robots_status = 200,
     .robots = "User-agent: *\nDisallow: /login\n",
     VALIDATORS,
     .themes = {&theme_courses, &theme_kecheng, &theme_gangui, &theme_pathyakram, &theme_muqarrar},
     SPECIALS(university),
     .neighbours = "skein.example/std/ Standard library of Skein\nlibrary.example/obras/ The rare books of "
                   "Valdeluz\nharbour.example/boats/halcyon/ The survey boat Halcyon"},

    {.host = "turtle.example",
     .lang = "en",
     .name = "Tortoise sanctuary",
     .motto = "slowly does it",
     .about = "A home for tortoises of all ages. Everything here takes its time, the web server too.\n"
              "Old Hector lives by the wall, Dolores by the gate, and the twins wherever the sun is.\n",
     .pace = PACE_SOON,
     .robots_status = 200,
     .robots = "User-agent: *\nCrawl-delay: 1\n",
     .has_date = true,
     .themes = {&theme_tortoises},
     SPECIALS(turtle)},
    {.host = "busy.example",
     .lang = "en",
     .name = "Ticket office",
     .motto = "one at a time, please",
     .about = "Tickets for everything that happens in town. When all want one at once, the office says so and asks you "
              "to wait.\n"
              "Outside the season the clerk has time for long conversations.\n",
     .pace = PACE_SOON,
     .robots_status = 404,
     .robots = "",
     VALIDATORS,
     .themes = {&theme_tickets},
     SPECIALS(busy)},
    {.host = "flaky.example",
     .lang = "en",
     .name = "Weather huts",
     .motto = "readings, when the line holds",
     .about =
         "Two weather huts and one telephone line. The line is old, and now and then an answer is lost on the way.\n"
         "Nobody has been able to find the place where it crackles.\n",
     .pace = PACE_LATE,
     .robots_status = 404,
     .robots = "",
     VALIDATORS,
     .themes = {&theme_storms},
     SPECIALS(flaky)},
    {.host = "closed.example",
     .lang = "en",
     .name = "Museum of locks",
     .motto = "closed",
     .about = "The museum of locks is closed until its rules can be read again.\n",
     .pace = PACE_LATE,
     .is_closed = true,
     .robots_status = 503,
     .robots = "",
     VALIDATORS,
     .themes = {&theme_locks}},
    {.host = "maze.example",
     .lang = "en",
     .name = "Hedge maze",
     .motto = "and calendar without end",
     .about = "A maze in which every way leads one step deeper, and a calendar in which every month leads to the next "
              "ones. Good crawlers turn back after a while.\n"
              "There is tea at the entrance.\n",
     .pace = PACE_SOON,
     .robots_status = 404,
     .robots = "",
     .themes = {&theme_hedges},
     SPECIALS(maze)},
};
const unsigned site_count = COUNT_OF(sites);
