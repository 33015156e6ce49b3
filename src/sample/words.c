#include "sample/words.h"

static const char *const english[] = {
    "The harbour opens at six in the morning and the first boats leave before the fog has lifted.",
    "Every lamp on the pier was given by a family that once sent a sailor to the northern grounds.",
    "Old charts show the sandbank two miles further west than where the pilots find it today.",
    "Nobody repairs nets by hand any more, except in winter when there is little else to do.",
    "A map is a promise that somebody has been there before you and came back to draw it.",
    "The keeper writes down the weather three times a day in a ledger bound in green cloth.",
    "From the hill you can count the chimneys and tell which houses are lived in this season.",
    "Visitors ask for the bridge first, although the stairs beside it are two centuries older.",
    "When the tide turns, the whole bay changes colour within the time it takes to boil an egg.",
    "The ferry carries letters, seed potatoes, a piano now and then, and once a small circus.",
    "Rain comes from the south and leaves by the valley, which is why the orchards face east.",
    "What the archive does not have was either borrowed, burnt, or never written down at all.",
};
static const char *const german[] = {
    "Das Museum zeigt in sieben kleinen Räumen, wie die Stadt vor dem großen Brand aussah.",
    "Die Uhr im Treppenhaus geht seit Jahrzehnten vier Minuten vor, und niemand will sie stellen.",
    "Im Keller lagern Kisten, deren Inhalt erst zur Hälfte beschrieben und gezählt worden ist.",
    "Wer die Werkstatt besuchen möchte, meldet sich am besten einen Tag vorher beim Pförtner an.",
    "Zwischen den Fenstern hängt ein Bild, das nur im Winter von der Sonne erreicht wird.",
    "Die Sammlung der Glocken stammt aus Dörfern, die längst unter dem Stausee verschwunden sind.",
    "Jeden Donnerstag erzählt ein früherer Lehrer, wie die Kinder damals über das Eis kamen.",
    "Der Katalog nennt für jedes Stück den Fundort, das Gewicht und den Namen des Finders.",
};
static const char *const french[] = {
    "Le jardin descend en terrasses jusqu'à la rivière, où les saules gardent la fraîcheur du soir.",
    "On y cultive encore des poires anciennes que les marchands de la ville ne connaissent plus.",
    "Les abeilles reviennent chaque printemps dans le mur exposé au sud, derrière la serre.",
    "La fontaine ne coule que deux heures par jour, depuis que la source a changé de chemin.",
    "Un banc de pierre porte le nom du jardinier qui planta les tilleuls pendant quarante ans.",
    "Après la pluie, l'allée principale sent la menthe, le buis et la terre retournée.",
    "Les enfants de l'école voisine viennent compter les grenouilles au début du mois d'avril.",
    "Personne ne sait plus pourquoi la grille du fond reste toujours fermée à double tour.",
};
static const char *const spanish[] = {
    "La biblioteca guarda más de nueve mil cartas que nunca llegaron a su destino.",
    "En la sala de lectura hay un silencio tan antiguo que hasta el reloj camina despacio.",
    "Los libros de viajes ocupan la pared del norte, porque allí la luz les hace menos daño.",
    "Cada sábado un voluntario ordena los mapas según el color del mar y no según el país.",
    "El catálogo empezó en fichas de cartón y todavía conserva la letra de su primera autora.",
    "Quien devuelve un libro tarde tiene que leer en voz alta una página elegida por el portero.",
    "Debajo de la escalera aparecieron dos cajas con periódicos de una ciudad que cambió de nombre.",
    "Las ventanas se abren solamente en mayo, cuando el viento no trae polvo de la cantera.",
};
static const char *const greek[] = {
    "Ο κήπος με τις πορτοκαλιές βρίσκεται πίσω από το παλιό σχολείο, κοντά στη θάλασσα.",
    "Κάθε άνοιξη οι γείτονες μαζεύονται για να καθαρίσουν τα αυλάκια και το πηγάδι.",
    "Το νερό έρχεται από το βουνό με έναν σωλήνα που έφτιαξαν πριν από πολλά χρόνια.",
    "Τα παιδιά παίζουν κάτω από τα δέντρα μέχρι να ακουστεί η καμπάνα του χωριού.",
    "Στην αποθήκη υπάρχουν ακόμη τα καλάθια που έπλεκε ο παππούς τον χειμώνα.",
    "Όποιος περνά από τον δρόμο μπορεί να κόψει ένα πορτοκάλι, αρκεί να πει καλημέρα.",
};
static const char *const japanese[] = {
    "この駅には一日に六本の列車しか止まりませんが、待合室はいつもきれいに掃除されています。",
    "駅長さんは毎朝、花に水をやりながら天気と列車の遅れを帳面に書いています。",
    "古い時計は五分遅れているので、地元の人は誰もその時計を信じていません。",
    "冬になると雪が線路を隠し、子どもたちは汽笛の音だけで列車の種類を当てます。",
    "売店ではりんごと新聞と、昔の切符をかたどった小さな菓子を売っています。",
    "山の向こうのトンネルが開く前は、この町まで馬車で二日もかかったそうです。",
};
static const char *const russian[] = {
    "Обсерватория стоит на холме, и зимой к ней можно подняться только на лыжах.",
    "Первый телескоп привезли сюда в деревянном ящике, который теперь служит столом.",
    "Каждую ясную ночь дежурный записывает в журнал имена всех увиденных комет.",
    "Летом школьники помогают красить купол и слушают рассказы о далёких звёздах.",
    "В библиотеке хранится карта неба, нарисованная от руки больше ста лет назад.",
    "Когда приходит туман, астрономы пьют чай и спорят о возрасте галактик.",
};

static const char *const italian[] = {
    "In cucina la ricetta conta meno della pazienza di chi mescola e del fuoco che resta basso.",
    "La nonna pesava la farina con una tazza senza manico e non sbagliava mai di un cucchiaio.",
    "Il mercato apre prima dell'alba e chi arriva tardi trova soltanto le foglie del cavolo.",
    "Ogni paese della valle giura che il suo formaggio è il più antico e il più sincero.",
    "Il sale si aggiunge alla fine, quando il vapore ha già raccontato che cosa manca.",
    "Le pentole di rame appese al muro servono ancora, ma soltanto nei giorni di festa.",
};
static const char *const portuguese[] = {
    "A câmara reúne-se na primeira quinta-feira de cada mês e qualquer morador pode falar.",
    "O largo da igreja fica fechado ao trânsito sempre que há feira ou procissão.",
    "Quem perde as chaves pergunta primeiro na junta, onde há uma gaveta cheia delas.",
    "As atas antigas estão escritas à mão e cheiram ainda a tinta e a maresia.",
    "O relógio da torre foi consertado três vezes e continua a adiantar-se no verão.",
    "No inverno o rio sobe até ao segundo degrau da fonte e depois volta ao seu lugar.",
};

static const char *const english_months[] = {"January", "February", "March",     "April",   "May",      "June",
                                             "July",    "August",   "September", "October", "November", "December"};
static const char *const german_months[] = {"Januar", "Februar", "März",      "April",   "Mai",      "Juni",
                                            "Juli",   "August",  "September", "Oktober", "November", "Dezember"};
static const char *const french_months[] = {"janvier", "février", "mars",      "avril",   "mai",      "juin",
                                            "juillet", "août",    "septembre", "octobre", "novembre", "décembre"};
static const char *const spanish_months[] = {"enero", "febrero", "marzo",      "abril",   "mayo",      "junio",
                                             "julio", "agosto",  "septiembre", "octubre", "noviembre", "diciembre"};
static const char *const italian_months[] = {"gennaio", "febbraio", "marzo",     "aprile",  "maggio",   "giugno",
                                             "luglio",  "agosto",   "settembre", "ottobre", "novembre", "dicembre"};
static const char *const portuguese_months[] = {"janeiro", "fevereiro", "março",    "abril",   "maio",     "junho",
                                                "julho",   "agosto",    "setembro", "outubro", "novembro", "dezembro"};
static const char *const polish_months[] = {"stycznia", "lutego",   "marca",    "kwietnia",     "maja",      "czerwca",
                                            "lipca",    "sierpnia", "września", "października", "listopada", "grudnia"};
static const char *const greek_months[] = {"Ιανουαρίου",  "Φεβρουαρίου", "Μαρτίου",   "Απριλίου",
                                           "Μαΐου",       "Ιουνίου",     "Ιουλίου",   "Αυγούστου",
                                           "Σεπτεμβρίου", "Οκτωβρίου",   "Νοεμβρίου", "Δεκεμβρίου"};
static const char *const russian_months[] = {"января", "февраля", "марта",    "апреля",  "мая",    "июня",
                                             "июля",   "августа", "сентября", "октября", "ноября", "декабря"};
static const char *const arabic_months[] = {"يناير", "فبراير", "مارس",   "أبريل",  "مايو",   "يونيو",
                                            "يوليو", "أغسطس",  "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر"};
static const char *const hindi_months[] = {"जनवरी", "फ़रवरी", "मार्च",  "अप्रैल",  "मई",   "जून",
                                           "जुलाई",  "अगस्त",  "सितंबर", "अक्टूबर", "नवंबर", "दिसंबर"};

#define LIST(a) a, sizeof(a) / sizeof((a)[0])
static const struct words all[] = {
    {"en", LIST(english), "Home", "See also", "Elsewhere", "Print version", "D M Y", english_months},
    {"de", LIST(german), "Startseite", "Siehe auch", "Anderswo", "Druckfassung", "D. M Y", german_months},
    {"fr", LIST(french), "Accueil", "Voir aussi", "Ailleurs", "Version imprimable", "D M Y", french_months},
    {"es", LIST(spanish), "Inicio", "Véase también", "En otros sitios", "Versión para imprimir", "D de M de Y",
     spanish_months},
    {"it", LIST(italian), "Inizio", "Vedi anche", "Altrove", "Versione per la stampa", "D M Y", italian_months},
    {"pt", LIST(portuguese), "Início", "Ver também", "Noutros sítios", "Versão para imprimir", "D de M de Y",
     portuguese_months},
    {"pl", LIST(english), "Strona główna", "Zobacz także", "Gdzie indziej", "Wersja do druku", "D M Y", polish_months},
    {"el", LIST(greek), "Αρχική", "Δείτε επίσης", "Αλλού", "Έκδοση για εκτύπωση", "D M Y", greek_months},
    {"ru", LIST(russian), "Главная", "Смотрите также", "В других местах", "Версия для печати", "D M Y года",
     russian_months},
    {"ar", LIST(english), "الصفحة الرئيسية", "انظر أيضا", "في مواقع أخرى", "نسخة للطباعة", "D M Y", arabic_months},
    {"ja", LIST(japanese), "ホーム", "関連ページ", "ほかのサイト", "印刷用", "Y年M月D日", NULL},
    {"zh", LIST(english), "首页", "另请参阅", "其他网站", "打印版", "Y年M月D日", NULL},
    {"ko", LIST(english), "홈", "함께 보기", "다른 사이트", "인쇄용", "Y년 M월 D일", NULL},
    {"hi", LIST(english), "मुखपृष्ठ", "यह भी देखें", "अन्य स्थान", "मुद्रण संस्करण", "D M Y", hindi_months},
};
const struct words *words_of(const char *lang)
{
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcmp(all[i].lang, lang) == 0)
            return &all[i];
    }
    return &all[0];
}

void words_paragraph(const struct words *w, struct rng *r, size_t bytes, struct buf *out)
{
    size_t end = out->n + bytes;
    while (out->n < end) {
        buf_puts(out, w->sentences[rng_below(r, w->count)]);
        buf_putc(out, ' ');
    }
}

struct span words_title(const struct words *w, struct rng *r)
{
    struct span s = span_str(w->sentences[rng_below(r, w->count)]);
    size_t end = 0;
    for (int words = 0; words < 4 && end < s.n; words++)
        end = span_find(s, ' ', end + 1);
    /* A language without spaces: some whole characters (three bytes each in Japanese). */
    return end == s.n ? span_cut(s, 0, 24) : span_cut(s, 0, end);
}

void words_date(const struct words *w, time_t at, struct buf *out)
{
    struct tm tm;
    gmtime_r(&at, &tm);
    for (const char *p = w->date; *p; p++) {
        if (*p == 'Y')
            buf_printf(out, "%d", tm.tm_year + 1900);
        else if (*p == 'D')
            buf_printf(out, "%d", tm.tm_mday);
        else if (*p != 'M')
            buf_putc(out, *p);
        else if (w->months)
            buf_puts(out, w->months[tm.tm_mon]);
        else
            buf_printf(out, "%d", tm.tm_mon + 1);
    }
}
