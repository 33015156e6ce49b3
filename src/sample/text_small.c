/* text_small.c - what the awkward sites write about, and the articles that stand alone. */
#include "sample/texts.h"

static const struct subject tortoises[] = {
    {{"old-hector", "Old Hector", "1889", "dandelions", "He has outlived four owners and three roofs."}},
    {{"dolores", "Dolores", "1954", "cucumber", "She walks to the gate every Sunday and arrives on Tuesday."}},
    {{"the-twins", "the twins", "2016", "clover", "Nobody can tell them apart, they least of all."}},
};
static const struct aspect tortoise_aspects[] = {
    {"", "{1}, hatched in {2}", "{1} of the tortoise sanctuary: hatched in {2}, likes {3}.",
     "{1} hatched in {2} and likes {3} best. {4} [Visits are slow and without end.|Please do not hurry anybody here.]\n"
     "[Weighed on {%}: {#3-40} kilograms.|The shell was measured on {%}.] [A friend of {~}.|Shares the pond with {~}.] "
     "The sanctuary asks robots for a pause between two requests, and means it.\n"}};
const struct theme theme_tortoises = {
    .lang = "en",
    .folder = "tortoises",
    .name = "The tortoises",
    .about = "All tortoises of the sanctuary, in the order in which they arrive for dinner. The sanctuary is open to "
             "everybody who has time.\nFeeding begins at noon and is over before dark, as a rule.\n",
    SUBJECTS(tortoises),
    ASPECTS(tortoise_aspects)};

static const struct subject tickets[] = {
    {{"opera-night", "opera night", "June", "the last seats are behind pillars"}},
    {{"regatta", "the regatta", "August", "standing room on the mole only"}},
};
static const struct aspect ticket_aspects[] = {
    {"", "Tickets for {1}", "Tickets for {1} in {2}: when sales begin and what is left.",
     "Sales for {1} begin in {2} at nine sharp, and {3}. [Everybody comes at once.|The queue reaches the bakery by "
     "eight.] [Please do not press the button twice.|If the office is busy, try again a little later.]\n"
     "[Price: {#8-60} euros.|From {#8-60} euros.] [Children sit on laps.|No refunds, except for weather.] See also "
     "{~}.\n"}};
const struct theme theme_tickets = {
    .lang = "en",
    .folder = "tickets",
    .name = "Ticket office",
    .about =
        "What is on sale. In the first hour the office answers only a few people at a time and asks the others to come "
        "back; that is not meant unkindly.\nAt other times there is nobody here at all, and the clerk reads.\n",
    SUBJECTS(tickets),
    ASPECTS(ticket_aspects)};

static const struct subject storms[] = {
    {{"ridge-hut", "the ridge hut", "2310", "lightning"}},
    {{"valley-mast", "the valley mast", "640", "cows that lean against it"}},
};
static const struct aspect storm_aspects[] = {
    {"", "Weather at {1}", "Wind, rain and interruptions at {1}, {2} metres above the sea.",
     "{1} stands at {2} metres. Its line is sometimes cut by {3}, and then nobody gets an answer for a while. [The "
     "instruments write on paper meanwhile.|What was missed is never made up.]\n"
     "# Last readings\n- Wind: {#5-90} km/h\n- Rain: {#0-40} mm\n- Temperature: {#1-19} degrees\n[Compare {~}.|Better "
     "connected: {~}.]\n"}};
const struct theme theme_storms = {
    .lang = "en",
    .folder = "huts",
    .name = "Weather huts",
    .about = "Two weather huts with a telephone line that has known better days. If a page does not come at once, it "
             "will come when the wind has dropped.\nReadings are taken at six, noon and six, by whoever is nearest.\n",
    SUBJECTS(storms),
    ASPECTS(storm_aspects)};

static const struct subject locks[] = {{{"night-latch", "the night latch", "1880"}},
                                       {{"lever-lock", "the lever lock", "1818"}},
                                       {{"padlock", "the padlock", "1700"}}};
static const struct aspect lock_aspects[] = {
    {"", "How {1} works", "{1}, in use since {2}.",
     "{1} has kept people out since {2}. This page may not be read by robots, because the rules of the site cannot be "
     "had. [Come back another day.|The locksmith is at lunch.]\n"}};
const struct theme theme_locks = {.lang = "en",
                                  .folder = "locks",
                                  .name = "Locks",
                                  .about = "A collection of locks that is closed at the moment.\n",
                                  SUBJECTS(locks),
                                  ASPECTS(lock_aspects)};

static const struct subject hedges[] = {{{"yew", "the yew maze", "1690"}}};
static const struct aspect hedge_aspects[] = {
    {"", "Finding your way through {1}", "{1} of {2}: how to get in, and perhaps out.",
     "{1} was planted in {2}. Keep one hand on the hedge and you will get out in the end; run, and you will meet "
     "yourself. [Closing time is announced by bell.|Those who are lost at dusk are fetched with a lantern.] [{#3-12} "
     "visitors a year are found by the dog.|The gardener knows the way and does not tell.]\n"}};
const struct theme theme_hedges = {
    .lang = "en",
    .folder = "hedges",
    .name = "The hedge maze",
    .about = "A maze without end, next to a calendar without end. Both were made by a programmer who meant well, and "
             "neither is worth walking through to the last corner.\nThe tea house at the entrance is real.\n",
    SUBJECTS(hedges),
    ASPECTS(hedge_aspects)};

/* ---- articles ---- */

const struct article articles[ARTICLE_COUNT] = {
    [ARTICLE_ESCAPING] =
        {"en", "Why <script>alert(1)</script> in a title must stay text, with \"quotes\" & ampersands.",
         "A page may be about markup. Whoever shows its title or its text has to escape it, or "
         "<script>alert(1)</script> runs in the reader's browser instead of being read.\n"
         "# Things that must stay harmless\n"
         "- <script>alert(document.title)</script>\n- \"><img src=x onerror=alert(2)>\n- "
         "</title><script>alert(3)</script>\n- javascript:alert(4)\n- &lt;b&gt; written as &amp;lt;b&amp;gt;\n"
         "# The rule\n"
         "Escape where you write, not where you read: `&`, `<`, `>` and both quotes. The function `escapeMarkup` of "
         "Skein does it, and `markup_unescape` is its inverse. A search page that shows this text as it stands here "
         "has done its work.\n"},
    [ARTICLE_HYDRATION] =
        {"en", "Sourdough hydration from 52 to 95 percent: a table of all our breads, and how to read it.",
         "Sourdough hydration is one number: grams of water to a hundred grams of flour. This table has the hydration "
         "of every sourdough of the house, from stiff to wet.\n"
         "# Sourdough\n- Walnut loaf: 72 %\n- Country sourdough: 75 %\n- Seeded batard: 76 %\n- Spelt tin loaf: 78 "
         "%\n- Dark rye: 82 %\n- Oat porridge bread: 88 %\n- Pumpernickel: 95 %\n"
         "# Raised with yeast\n- Brioche: 52 %\n- Milk rolls: 58 %\n- Potato bread: 64 %\n- Baguette: 68 %\n- "
         "Ciabatta: 85 %\n"
         "Count the water in the starter as well: a sourdough starter of equal weights brings as much water as flour. "
         "If your sourdough sticks to everything, lower the hydration by two percent and be kinder to the flour.\n"},
    [ARTICLE_WRONG_LANG] =
        {"en", "Come conservare i pomodori per l'inverno.",
         "I pomodori si raccolgono ad agosto, quando sono rossi fino al picciolo, e si conservano in barattoli di "
         "vetro ben puliti. Si scottano un minuto nell'acqua bollente, si pelano e si tagliano a metà.\n"
         "# Preparazione\n- lavare i barattoli e asciugarli al sole\n- riempirli senza lasciare aria\n- aggiungere una "
         "foglia di basilico\n- bollire i barattoli chiusi per quaranta minuti\n"
         "In dispensa resistono fino alla primavera. Chi scrive questa pagina ha dimenticato di dire al computer che è "
         "in italiano, ma i pomodori non se ne sono accorti.\n"},
    [ARTICLE_NO_LANG_PT] =
        {NULL, "Horário da secretaria e contactos da junta de freguesia.",
         "A secretaria da junta de freguesia está aberta de segunda a sexta-feira, das nove às doze e meia. Às "
         "quintas-feiras o presidente recebe os moradores sem marcação, até ao último da fila.\n"
         "# Contactos\n- secretaria: primeira porta à direita\n- cemitério: falar com o senhor Valdemar\n- roturas de "
         "água: a qualquer hora, batendo à janela\n"
         "No mês de agosto o horário é mais curto, porque está calor e porque há festas. Os certificados ficam prontos "
         "em três dias.\n"},
    [ARTICLE_NO_LANG_KO] =
        {NULL, "기숙사 생활 안내: 열쇠, 식사, 조용한 시간.",
         "기숙사에 오신 것을 환영합니다. 방 열쇠는 일층 사무실에서 받을 수 있습니다. 아침 식사는 일곱 시부터 아홉 "
         "시까지이고, 저녁 식사는 여섯 시부터 여덟 시까지입니다.\n"
         "# 생활 규칙\n- 밤 열한 시부터 조용히 해 주세요\n- 부엌은 사용한 뒤에 깨끗이 정리해 주세요\n- 자전거는 "
         "뒷마당에 세워 주세요\n"
         "궁금한 점이 있으면 언제든지 사무실에 물어보세요. 세탁실은 지하에 있고, 일요일 아침에는 줄이 깁니다.\n"},
    [ARTICLE_WRONG_ZH] = {"en", "校园图书馆的开放时间和借书规则。",
                          "校园图书馆每天上午八点开门，晚上十点关门。新同学需要先到国际学生办公室领取学生证，然后才能借"
                          "书。每人一次最多可以借十本书，时间是四个星期。\n"
                          "# 规则\n- 阅览室里请保持安静\n- 不可以带食物进来\n- 过期的书每天要交一点罚款\n"
                          "地下一层有旧报纸和地图，三楼有可以讨论问题的小房间。期末考试前，图书馆开放到半夜。\n"},
    [ARTICLE_SIGNPOST] =
        {"en", "Welcome in six languages: the signpost at the pier.",
         "The signpost at the pier has six arms, one for each language that is heard on the quay in summer.\n"
         "Willkommen im Hafen! Die Fähre zum anderen Ufer legt jede halbe Stunde am Steg ab.\n"
         "Bienvenue au port ! Le marché aux poissons ouvre à six heures, près du vieux bassin.\n"
         "¡Bienvenidos al puerto! La oficina de turismo está en la casa azul, junto a la grúa.\n"
         "Benvenuti al porto! I biglietti per il traghetto si comprano a bordo.\n"
         "Velkommen til havnen! Husk at mågerne også er sultne.\n"
         "The English arm says only: mind the step.\n"},
    [ARTICLE_WINTER] = {"de", "Änderungen im Winterfahrplan aller Bergbahnen ab Dezember.",
                        "Ab Dezember gilt der Winterfahrplan. Wegen der Arbeiten am Viadukt fährt die Steinhornbahn "
                        "bis Weihnachten nur bis zur Mittelstation; von dort verkehrt ein Schlitten mit zwei Pferden.\n"
                        "# Änderungen im Überblick\n- Steinhornbahn: bis 24. Dezember nur bis zur Mittelstation\n- "
                        "Gletscherbahn: letzte Talfahrt eine Stunde früher\n- Mondscheinbahn: zusätzliche Fahrt bei "
                        "Vollmond\n- Weinbergbahn: kein Winterbetrieb\n"
                        "Den Fahrplan für den Winter bekommen Sie auch als Faltblatt am Schalter. Bei Lawinengefahr "
                        "wird eine rote Fahne aufgezogen; dann fährt keine Bahn, auch nicht ausnahmsweise.\n"},
    [ARTICLE_ECLIPSE] = {"en",
                         "The partial solar eclipse, seen from the observatory hill: times, weather, what we saw.",
                         "The partial eclipse of the Sun began at 11:14 and ended at 13:02. At its greatest the Moon "
                         "covered two fifths of the Sun, and the jackdaws of the radio dish went to bed.\n"
                         "# How we watched\n- through the solar telescope, on a white card\n- through holes in a "
                         "colander, forty small crescents on the wall\n- never with the naked eye\n"
                         "Two hundred people came up the hill. The next partial eclipse that can be seen from here is "
                         "in six years; the colander is kept in the clock room until then.\n"},
};
