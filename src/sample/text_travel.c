/* text_travel.c - a mountain railway in German, and the stations of a country line in Japanese. */
#include "sample/texts.h"

/* ---- Strecken: Name, Talort, Bergort, Höhe, Minuten, Preis, Ziel, Besonderheit ---- */

static const struct subject strecken[] = {
    {{"steinhorn", "Steinhornbahn", "Unterbrunn", "Steinhorn", "2140", "38", "24", "die Hütte am Steinsee",
      "Auf halber Strecke hält der Zug an einem Brunnen, damit die Lok trinken kann."}},
    {{"laerchenwald", "Lärchenwaldbahn", "Altdorf", "Lärchboden", "1480", "22", "14", "der Waldlehrpfad",
      "Im Oktober werden die Fenster geöffnet, weil sonst niemand mehr einsteigt."}},
    {{"gletscher", "Gletscherbahn", "Gries", "Eisjoch", "2890", "54", "39", "die Eisgrotte",
      "Die obersten drei Kilometer führen durch einen Tunnel, in dem es auch im August friert."}},
    {{"kapellen", "Kapellenbahn", "Sankt Anton im Moos", "Maria Schnee", "1260", "17", "9", "die Wallfahrtskirche",
      "Pilger fahren hinunter umsonst, denn hinauf sollen sie gehen."}},
    {{"schlucht", "Schluchtbahn", "Rauhenbach", "Teufelsbrücke", "1090", "26", "16", "die Klamm",
      "Der Zug fährt so nah am Fels, dass die Blumen in die Fenster nicken."}},
    {{"almen", "Almenbahn", "Weidach", "Hochalm", "1730", "31", "19", "die Sennerei",
      "Zum Almabtrieb fahren die Kühe mit, aber nur die mit Kranz."}},
    {{"panorama", "Panoramabahn", "Seeburg", "Rigelkopf", "1980", "42", "28", "die Aussichtswarte",
      "Bei klarer Sicht zählt man vom letzten Wagen aus neun Seen."}},
    {{"salzberg", "Salzbergbahn", "Hallgrund", "Knappenhaus", "1150", "19", "12", "das Schaubergwerk",
      "Die Sitzbänke stammen aus der Grubenbahn und sind genau so bequem."}},
    {{"nachtzug", "Mondscheinbahn", "Bruckmühl", "Sternwarte Hochfeld", "1620", "33", "21", "die Volkssternwarte",
      "Sie fährt nur bei Dunkelheit, und im Wagen brennt eine einzige rote Lampe."}},
    {{"weinberg", "Weinbergbahn", "Kellerau", "Burg Falkenfels", "540", "14", "7", "die Burgschänke",
      "Der Schaffner ist Winzer, und umgekehrt."}},
};

static const struct aspect strecke_aspects[] = {
    {"", "{1}: von {2} nach {3}", "Die {1} von {2} hinauf nach {3}, {4} Meter über dem Meer.",
     "Die {1} fährt von {2} nach {3} auf {4} Meter. Die Fahrt dauert {5} Minuten und kostet {6} Euro[ für Erwachsene|, "
     "hin und zurück das Doppelte weniger drei|]. {8}\n"
     "[Oben wartet|Am Ziel liegt] {7}. [Ziehen Sie sich warm an.|Fotografieren ist erlaubt, Hinauslehnen nicht.|Hunde "
     "fahren auf dem Schoß umsonst.] [Bei Sturm fährt die Bahn nicht.|Die Bahn fährt bei jedem Wetter außer "
     "Gewitter.]\n"
     "# Auf einen Blick\n- Talstation: {2}\n- Bergstation: {3}\n- Höhe: {4} m\n- Fahrzeit: {5} Minuten\n- Einfache "
     "Fahrt: {6} Euro\n[Anschluss besteht zur Strecke {~}.|Mit derselben Karte fahren Sie auch hier: {~}.]\n"},
    {"fahrplan-winter.html", "Fahrplan Winter: {1}",
     "Winterfahrplan der {1} zwischen {2} und {3}: Abfahrten und Ausfälle.",
     "Der Fahrplan im Winter gilt vom [ersten Dezember|zweiten Advent] bis [Ostern|Ende März]. [Bei Lawinengefahr "
     "bleibt die {1} im Tal.|Nach starkem Schneefall verkehrt der Schneepflug zuerst.]\n"
     "# Abfahrt in {2}\n- 8:{#10-25}\n- 9:{#30-55}\n- 11:{#10-25}\n- 13:{#30-55}\n- 15:{#10-25}\n"
     "# Abfahrt in {3}\n- 9:{#10-25}\n- 10:{#30-55}\n- 12:{#10-25}\n- 14:{#30-55}\n- 16:{#10-25}, letzte Fahrt\n"
     "# Hinweise\n[Schlitten werden im letzten Wagen befördert.|Ski gehören in den Gepäckwagen.] [An Heiligabend endet "
     "der Betrieb mittags.|Zu Silvester fährt ein Sonderzug um {#22-23} Uhr.] Die Fahrzeit beträgt im Winter {5} "
     "Minuten[ und ein wenig Geduld|]. {8}\n"},
    {"fahrplan-sommer.html", "Fahrplan Sommer: {1}", "Sommerfahrplan der {1} zwischen {2} und {3}, mit Abendfahrten.",
     "Der Fahrplan im Sommer gilt von [Pfingsten|Anfang Mai] bis [Allerheiligen|Ende Oktober]. [An Sonntagen fährt ein "
     "Zug mehr.|In den Ferien wird der Takt verdichtet.]\n"
     "# Abfahrt in {2}\n- 7:{#10-25}\n- 8:{#30-55}\n- 10:{#10-25}\n- 12:{#30-55}\n- 14:{#10-25}\n- 17:{#30-55}\n"
     "# Abfahrt in {3}\n- 8:{#10-25}\n- 9:{#30-55}\n- 11:{#10-25}\n- 13:{#30-55}\n- 16:{#10-25}\n- 18:{#30-55}, letzte "
     "Fahrt\n"
     "# Hinweise\n[Fahrräder nur mit Reservierung.|Kinderwagen stellen Sie bitte in den ersten Wagen.] [Am {d} gibt es "
     "eine Abendfahrt mit Musik.|Die Abendfahrt endet bei Laternenlicht.] {8}\n"},
    {"preise.html", "Preise und Karten: {1}",
     "Was eine Fahrt mit der {1} kostet, für Familien, Gruppen und Vielfahrer.",
     "[Die einfache Fahrt mit der {1} kostet {6} Euro.|Für {6} Euro fahren Sie von {2} nach {3}.] [Kinder unter sechs "
     "zahlen nichts.|Schüler zahlen die Hälfte.]\n"
     "# Karten\n- Einfache Fahrt: {6} Euro\n- Familienkarte: {#20-80} Euro\n- Gruppen ab {#8-15} Personen: {#10-25} "
     "Prozent weniger\n- Jahreskarte: {#90-260} Euro\n"
     "[Karten gibt es am Schalter bei {A}.|{A} verkauft die Karten auch im Zug.] [Verlorene Karten werden nicht "
     "ersetzt, außer mit guter Geschichte.|Wer eine alte Pappkarte mitbringt, bekommt sie gestempelt zurück.] {8}\n"},
    {"wandern.html", "Wandern ab {3}", "Wanderungen von der Bergstation {3}: Ziel, Dauer und Schwierigkeit.",
     "[Von {3} aus führen {#3-9} Wege weiter.|Wer oben in {3} aussteigt, hat die Wahl.] [Der schönste|Der leichteste] "
     "geht zu diesem Ziel: {7}, [eine Stunde|anderthalb Stunden|zwei Stunden] entfernt.\n"
     "# Wege\n- {7}: {#40-150} Minuten, [leicht|mittel]\n- [Rundweg über den Grat|Panoramaweg]: {#2-5} Stunden, "
     "[mittel|nur für Geübte]\n- zurück nach {2}: {#2-4} Stunden, [steil|durch den Wald]\n"
     "[Feste Schuhe sind nötig.|Nehmen Sie Wasser mit, der Brunnen ist launisch.] [Auskunft gibt {A}.|{A} kennt jede "
     "Quelle.] {8} [Abstieg möglich zur Strecke {~}.|Ausdauernde gehen weiter bis zur Strecke {~}.]\n"},
};

const struct theme theme_strecken = {
    .lang = "de",
    .folder = "strecken",
    .name = "Strecken und Fahrpläne",
    .about = "Zehn Strecken der Bergbahnen mit dem Fahrplan für Winter und Sommer, den Preisen und den Wanderungen.\n"
             "Der Fahrplan wechselt zweimal im Jahr; an der Talstation hängt immer der gültige.\n",
    SUBJECTS(strecken),
    ASPECTS(strecke_aspects),
    .pools = {"Schaffner Huber|Frau Moser|der Bahnwärter|Resi Stadler", NULL, NULL, "Freitag|Samstag|Mittwoch"},
};

/* ---- 駅: 名前, 読み, 路線, 開業年, 標高, 名物, 季節, 本数, 思い出 ---- */

static const struct subject eki[] = {
    {{"yukimi", "雪見駅", "ゆきみ", "北山線", "1923", "612", "りんご", "冬", "6",
      "雪の朝には、駅長さんがホームに小さな雪だるまを並べます。"}},
    {{"sakuragawa", "桜川駅", "さくらがわ", "川沿い線", "1911", "84", "桜餅", "春", "14",
      "四月の一週間だけ、列車は花の下をゆっくり走ります。"}},
    {{"hoshino", "星野駅", "ほしの", "北山線", "1931", "905", "そば", "夏", "5",
      "夜の待合室では、天文台の人が星の話をしてくれます。"}},
    {{"umimachi", "海町駅", "うみまち", "岬線", "1908", "3", "干物", "夏", "11",
      "ホームから海までは百二十歩、子どもの足では二百歩です。"}},
    {{"takenoko", "竹林駅", "たけばやし", "川沿い線", "1926", "140", "たけのこ", "春", "9",
      "風の強い日には、竹の音で放送が聞こえません。"}},
    {{"onsen", "湯の里駅", "ゆのさと", "北山線", "1919", "455", "温泉まんじゅう", "秋", "8",
      "ホームに足湯があり、乗り遅れる人が絶えません。"}},
    {{"toudai", "灯台前駅", "とうだいまえ", "岬線", "1935", "21", "さざえ", "夏", "7",
      "終電のあと、灯台の光が線路を一度だけ照らします。"}},
    {{"momiji", "紅葉谷駅", "もみじだに", "北山線", "1928", "530", "栗", "秋", "6",
      "赤い葉が線路に積もると、車輪が少し滑ります。"}},
    {{"ichiba", "市場駅", "いちば", "川沿い線", "1899", "12", "卵焼き", "一年中", "22",
      "始発の客はほとんどが魚屋さんで、みんな長靴をはいています。"}},
    {{"touge", "峠駅", "とうげ", "北山線", "1938", "1044", "力もち", "冬", "4",
      "機関車がここで息をつく間に、売り子が窓から餅を渡します。"}},
};

static const struct aspect eki_aspects[] = {
    {"", "{1}（{2}）", "{3}の{1}。{4}年開業、標高{5}メートル。名物は{6}。",
     "{1}（{2}）は{3}の駅で、{4}年に開業しました。標高は{5}メートルです。[一日に{8}本の列車が止まります。|列車は一日{8}"
     "本です。]{9}\n"
     "[名物は{6}です。|売店では{6}を売っています。][{7}に訪れるのがいちばんです。|{7}がとくに美しい駅です。]["
     "待合室は朝五時に開きます。|切符は窓口で買えます。]\n"
     "# 駅の案内\n- 路線：{3}\n- 開業：{4}年\n- 標高：{5}メートル\n- 名物：{6}\n- 列車：一日{8}本\n"
     "[次に訪ねるなら{~}もおすすめです。|同じ切符で{~}にも行けます。]\n"},
    {"jikoku.html", "{1}の時刻表", "{3}{1}の発車時刻。平日と休日、冬の運休について。",
     "{1}の時刻表です。[冬は雪のため遅れることがあります。|天気の悪い日は駅に電話してください。]\n"
     "# 上り\n- 6時{#10-59}分\n- 9時{#10-59}分\n- 13時{#10-59}分\n- 17時{#10-59}分\n"
     "# 下り\n- 7時{#10-59}分\n- 11時{#10-59}分\n- 15時{#10-59}分\n- 19時{#10-59}分\n"
     "[休日は一本少なくなります。|休日も平日と同じ時刻です。][乗り換えは{~}でお願いします。|最終列車の前に{~}"
     "へ行く便があります。]{9}\n"},
    {"rekishi.html", "{1}の歴史", "{4}年に開業した{1}の歴史と、町の人の思い出。",
     "{1}は{4}年に開業しました。[はじめは木の小屋が一つあるだけでした。|最初の列車には村の人が全員乗りました。][駅舎は{"
     "#1950-1989}年に建て直されました。|今の駅舎は{#1945-1985}年のものです。]\n"
     "{9}[{A}さんは三十年ここで働きました。|{A}さんは毎日花に水をやっています。]\n"
     "# 年表\n- {4}年：開業\n- {#1950-1979}年：[電化|改築|貨物の終了]\n- "
     "{#1990-2015}年：[無人駅になる|記念切符を発売|新しいホーム]\n"},
    {"sanpo.html", "{1}から歩く", "{1}から歩いて行ける場所と、{7}の見どころ。",
     "{1}から歩いて{#5-25}分で[古い神社|小さな滝|見晴らし台]に着きます。[{7}には人が多くなります。|{7}"
     "がいちばん静かです。]\n"
     "# 道順\n- 駅前を[右|左]に曲がる\n- [橋を渡る|石段を上る]\n- [地蔵のところで休む|茶屋で{6}を食べる]\n"
     "帰りの列車は一日{8}本ですから、時刻表を確かめてください。{9}[地図は{A}さんが描きました。|道に迷ったら{A}"
     "さんに聞いてください。]\n"},
};

const struct theme theme_eki = {
    .lang = "ja",
    .folder = "eki",
    .name = "駅の案内",
    .about = "山と海のあいだを走る三つの路線の、十の駅を紹介します。それぞれの駅に案内、時刻表、歴史、散歩道のページが"
             "あります。\n"
             "列車は少ないですが、待合室にはいつもお茶があります。ゆっくりお出かけください。\n",
    SUBJECTS(eki),
    ASPECTS(eki_aspects),
    .pools = {"山本|佐藤|小川|中村|石田"},
};
