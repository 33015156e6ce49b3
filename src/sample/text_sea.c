/* text_sea.c - a harbour and its boats; the birds of the marsh, in English and in Polish. */
#include "sample/texts.h"

/* ---- boats: name, kind, year, length in m, skipper, work, berth, remark, number ---- */

static const struct subject boats[] = {
    {{"anna-maria", "the Anna Maria", "herring drifter", "1904", "19", "Joost Vermeer", "the herring grounds",
      "the north mole", "Her bell was cast from church candlesticks and still cracks in frost.", "H 12"}},
    {{"wagtail", "the Wagtail", "pilot cutter", "1911", "15", "Elsie Marlow", "pilot duty", "the pilot steps",
      "She beat the lifeboat to the wreck of the Corsair by twenty minutes and nobody has forgotten it.", "P 3"}},
    {{"northern-light", "the Northern Light", "lighthouse tender", "1932", "28", "Captain Aldous Finch",
      "the three lights of the bay", "the coal quay", "She carries oil, letters and a cow, in that order of care.",
      "T 1"}},
    {{"perpetua", "the Perpetua", "ketch", "1897", "22", "the Roscoe brothers", "slate and cider", "the old dock",
      "Under the paint of her stern you can read two other names.", "K 40"}},
    {{"goose", "the Goose", "harbour ferry", "1958", "12", "Mina Tolley", "the crossing to the far shore",
      "the ferry stage", "The piano that fell off her in spring 1961 is still in the mud.", "F 1"}},
    {{"sea-holly", "the Sea Holly", "crab boat", "1976", "9", "Robin Pascoe", "crabs and lobsters", "the slip",
      "Her pots are numbered in chalk by the skipper's daughter, who charges for it.", "C 77"}},
    {{"resolute", "the Resolute", "tug", "1944", "31", "Bert Askew", "towing and salvage", "the deep berth",
      "She has pulled out everything that ever stuck on the sandbank, a circus barge included.", "T 9"}},
    {{"swift", "the Swift", "customs launch", "1929", "14", "Officer Harriet Dane", "the revenue",
      "the custom house steps", "Smugglers painted their own launch the same grey, and both waved.", "R 2"}},
    {{"cormorant", "the Cormorant", "dredger", "1950", "34", "Walter Penrose", "the channel", "wherever it is shallow",
      "What she brings up is laid out on the quay on Fridays: anchors, bottles, once a bicycle.", "D 1"}},
    {{"lucky-penny", "the Lucky Penny", "sailing dinghy", "1988", "4", "the sailing school", "lessons", "the pontoon",
      "Every child of the town has capsized in her at least once, most of them twice.", "S 5"}},
    {{"halcyon", "the Halcyon", "survey boat", "2003", "17", "Doctor Ingrid Solberg", "charts and soundings",
      "the research pier", "Her echo sounder found the drowned forest, four metres under the sand.", "V 8"}},
    {{"grace-of-god", "the Grace of God", "lifeboat", "1939", "13", "coxswain Ned Larkin", "saving lives",
      "the lifeboat house", "Three hundred and twelve people are alive because of her, and one dog.", "L 1"}},
};

static const struct aspect boat_aspects[] = {
    {"", "{1}, {2} of {3}", "{1}: a {2} built in {3}, {4} metres long, berthed at {7}.",
     "{1} is a {2} of {3}, {4} metres from stem to stern, with the number {9} on her bow. [Her skipper is|She is in "
     "the hands of] {5}. {8}\n"
     "[She works at|Her trade is] {6}, and when she is in, you find her at {7}. [Visitors may go aboard on {d} "
     "afternoons.|Do not step aboard without asking.|Her kettle is always on.]\n"
     "# Particulars\n- Type: {2}\n- Built: {3}\n- Length: {4} m\n- Skipper: {5}\n- Berth: {7}\n- Number: {9}\n"
     "[Moored beside her lies {~}.|She was built in the same yard as {~}.|In rough weather she shares a mooring with "
     "{~}.]\n"},
    {"logbook.html", "Logbook of {1}, a week in [autumn|spring|winter]",
     "Seven days in the logbook of {1}: wind, tide and work at {6}.",
     "[Copied from the book that {5} keeps in pencil.|{5} writes little and means all of it.]\n"
     "# Monday\n[Wind {c} {#2-6}, rain by noon.|Fog until ten, then a light {c} wind.] [Left {7} on the ebb.|Stayed "
     "in.] [Work: {6}.|Scraped the hull instead.]\n"
     "# Tuesday\n[High water at {#3-11}:{#10-59}.|Spring tide, the stairs under water.] [Met {~} off the point.|Lent a "
     "rope to {~}.] [Nothing to report.|A seal followed us home.]\n"
     "# Wednesday\n[Gale warning from the {c}.|Barometer fell {#6-19} points since breakfast.] [Doubled the lines at "
     "{7}.|Took down everything that flaps.]\n"
     "# Thursday\n[Sea gone down; went out for {6}.|Swell too high on the bar; came back.] {8}\n"
     "# Friday\n[Paid off {A}, who goes to see his mother.|{A} joined as hand.] [Took on {#80-400} litres of "
     "fuel.|Bought paint, white, {#3-9} tins.]\n"
     "# Weekend\n[Harbour full of visitors.|Sang in the chapel.] [Slept.|Mended what the week had broken.]\n"},
    {"history.html", "[From the slip to today: the history of|How old is she? A history of] {1}",
     "Who built {1} in {3}, what she did since, and who saved her.",
     "{1} was laid down in {3} [as yard number {#20-190}|for a price of {#90-800} pounds|in a yard that is now a car "
     "park]. [{A} drew her lines on the floor of a barn.|{A} chose every plank.] She was meant for {6} and has done "
     "little else.\n"
     "[In the great storm she broke loose from {7} and was found next morning, unhurt, in a field.|During the war she "
     "was painted grey and counted fish boxes for the ministry.|For {#6-19} years she lay on the mud with a tree "
     "growing in her hold.] {8}\n"
     "# Owners\n- {A}, from {3}\n- [a bank|two widows|the parish|a theatre company], for {#3-20} years\n- {5}, today\n"
     "[The register spells her name in two ways; both are right.|Her papers burnt with the custom house and were "
     "written again from memory.]\n"},
    {"repair.html", "Repairs to {1}: the winter list",
     "What has to be mended on {1} before spring: planks, caulking, engine, paint.",
     "[Every winter {1} comes out of the water for {#3-8} weeks.|The list for {1} gets longer each year.] A {2} of {4} "
     "metres [needs {#20-70} metres of caulking|drinks {#12-40} litres of paint|has more corners than a church].\n"
     "# To do\n- [Replace {#2-9} planks on the port side|Sister the third frame]\n- [Caulk the garboard seam with "
     "oakum and pitch|Refasten the keel bolts]\n- [Overhaul the bilge pump|Clean the injectors]\n- [Varnish the "
     "mast|Sew the mainsail]\n"
     "{5} [does it alone, with the radio on|gets help from {A} on Saturdays|trusts nobody else with a plane]. {8}\n"
     "[The slip is booked for {%}.|She goes back to {7} with the spring tide.]\n"},
};

const struct theme theme_boats = {
    .lang = "en",
    .folder = "boats",
    .name = "Boats of the harbour",
    .about =
        "Twelve boats that you can see from the pier, with their particulars, a page of the logbook, their history and "
        "the winter's repairs.\nThe harbour master keeps the list; tell her when something is wrong or sunk.\n",
    SUBJECTS(boats),
    ASPECTS(boat_aspects),
    .pools = {"Jem Tranter|old Coulson|Abel Price|Davy Moss|Silas Brook", NULL,
              "north|north-east|east|south|south-west|west|north-west", "Tuesday|Thursday|Saturday|Sunday"},
};

/* ---- birds: name, Latin name, size in cm, place, season, call, food, remark, first seen ---- */

static const struct subject birds[] = {
    {{"kingfisher", "kingfisher", "Alcedo atthis", "17", "the alder stream", "all year", "a thin whistle, twice",
      "minnows", "It nests in a tunnel a metre long and leaves a white streak below the door.", "1987"}},
    {{"bittern", "bittern", "Botaurus stellaris", "75", "the reed bed", "from March to June",
      "a boom like blowing over a bottle", "eels and frogs",
      "For nine years we heard it and never saw it; then it walked over the path at noon.", "1994"}},
    {{"avocet", "avocet", "Recurvirostra avosetta", "44", "the salt pans", "from April to August", "a liquid klute",
      "shrimps", "Its bill curves upward, and it sweeps the mud with it like a scythe.", "2001"}},
    {{"osprey", "osprey", "Pandion haliaetus", "58", "the long lake", "in September", "a falling row of whistles",
      "trout, carried head first", "The one with the green ring has passed through on the same day four years running.",
      "1999"}},
    {{"nightjar", "nightjar", "Caprimulgus europaeus", "27", "the heath", "from May to July",
      "a churring that never takes breath", "moths",
      "It sits along the branch, not across, and is then a piece of bark.", "1991"}},
    {{"dipper", "dipper", "Cinclus cinclus", "18", "the mill race", "all year", "a sharp zit", "caddis larvae",
      "It walks under water against the current and comes out dry.", "1985"}},
    {{"waxwing", "waxwing", "Bombycilla garrulus", "19", "the rowans by the school", "in hard winters",
      "a silver trill", "berries", "Forty of them emptied the tree in one morning while the class counted.", "2004"}},
    {{"barn-owl", "barn owl", "Tyto alba", "34", "the tithe barn", "all year", "a long hiss", "voles",
      "We found two hundred and six skulls in the pellets of one winter.", "1986"}},
    {{"sand-martin", "sand martin", "Riparia riparia", "12", "the gravel pit", "from April to September",
      "a dry chatter", "flies over the water", "The bank fell in June; by July they had dug it again.", "1988"}},
    {{"curlew", "curlew", "Numenius arquata", "55", "the wet meadow", "from February to July",
      "a rising, bubbling song", "worms", "Farmer Ellis mows the meadow last, because he likes the sound.", "1985"}},
    {{"goldcrest", "goldcrest", "Regulus regulus", "9", "the churchyard firs", "all year",
      "a song too high for old ears", "spiders",
      "It weighs as much as a sheet of paper and crosses the sea in a night.", "1989"}},
    {{"black-stork", "black stork", "Ciconia nigra", "98", "the flooded wood", "once, in August", "silence", "frogs",
      "It stayed eleven minutes, and four people saw it, one of them without binoculars.", "2016"}},
    {{"redstart", "redstart", "Phoenicurus phoenicurus", "14", "the old orchard", "from April to August",
      "a sad phrase and a rattle", "beetles", "The tail never keeps still; that is how you find it.", "1990"}},
    {{"water-rail", "water rail", "Rallus aquaticus", "25", "the ditch behind the hide", "in winter",
      "a squeal like a piglet", "everything", "Most entries in the book say only: heard.", "1992"}},
};

static const struct aspect bird_aspects[] = {
    {"", "{1} ({2}) at the marsh", "Where and when to see the {1} here: {4}, {5}.",
     "The {1}, {2}, is {3} cm long and is seen here {5}, at {4}. [Listen for {6}.|Its call is {6}.] It feeds on {7}. "
     "{8}\n"
     "[The first in our notes is from {9}.|We have known it here since {9}.] [Stand still near {4}, half an hour after "
     "sunrise.|The low wall by {4} is the best place.] [Bring a flask; patience is most of it.|Dogs stay at the "
     "gate.]\n"
     "# At a glance\n- Latin name: {2}\n- Length: {3} cm\n- Place: {4}\n- Season: {5}\n- Call: {6}\n- Food: {7}\n"
     "[Easily taken for the {~} in bad light.|Where it goes, the {~} is often not far.]\n"},
    {"diary.html", "Diary: [a morning with the|the day of the|waiting for the] {1}",
     "From the bird-watching diary of {A}: the {1} at {4}.",
     "[Up at {#3-5}:{#10-55}, frost on the boards.|Wind from the east, grey, {#3-14} degrees.] Went to {4} [by the "
     "back lane|along the dyke|on the bicycle] with {a}. [For an hour nothing.|A heron, two moorhens, nothing "
     "else.|Fog so thick that we heard the reeds only.]\n"
     "Then {6}, [close|from the left|twice], and there it was: the {1}. [It stayed {#2-19} minutes.|It took no notice "
     "of us.|It looked at us as one looks at rain.] {8}\n"
     "[It was taking {7}.|We saw it catch its food: {7}.] [{A} drew it from memory, with the wrong feet.|I forgot the "
     "cold until the thermos was empty.] [Entry number {#140-960} of the book.|Counted {#1-9} in all.]\n"},
    {"identify.html", "How to tell a {1}: marks, call and flight",
     "Identifying the {1}: size, shape, voice, and the birds it is confused with.",
     "[Size first:|Begin with the size:] {3} cm, [a hand|a loaf|a boot] by way of comparison. [Then the voice:|The ear "
     "is quicker than the eye:] {6}.\n"
     "# Marks\n- [Shape before colour|Look at the bill|Look at the tail]: {#2-4} things at most, then write\n- [Flight "
     "low and straight|Flight in bounds|Glides more than it beats]\n- Place: {4}, {5}\n"
     "# Confusion\n[Beginners take the {~} for it.|At dusk even {A} has called a {~} a {1}.] [The call decides.|The "
     "legs decide.|If it is eating {7}, it is ours.]\n"
     "{8}\n"},
    {"counts.html", "{1}: counts by year", "Numbers of the {1} at the marsh since {9}, and what they may mean.",
     "[Counted from {4} on the second Sunday of the month.|The counts begin in {9} and have gaps where nobody was "
     "well.] [A count is the least number that was surely there.|Double counts are struck out.]\n"
     "# Numbers\n- 2019: {#1-30}\n- 2020: {#1-34}\n- 2021: {#2-38}\n- 2022: {#1-40}\n- 2023: {#2-44}\n"
     "[More than before, since the ditch was cleared.|Fewer, as everywhere.|No trend that would stand up in court.] "
     "[The {1} needs {7} and quiet; we can give it one of them.|What helps is water, and leaving {4} alone.] Compare "
     "the {~}.\n"
     "Counted by {A} and {a}. {8}\n"},
};

const struct theme theme_birds = {
    .lang = "en",
    .folder = "birds",
    .name = "Birds of the marsh",
    .about =
        "A bird-watching diary of fourteen birds. Each has a page, a diary entry, marks to tell it by, and counts. [We "
        "give no places of nests.|Nests are never told.]\nThe hide is open; close the shutters when you leave.\n",
    SUBJECTS(birds),
    ASPECTS(bird_aspects),
    .pools = {"Marian Pell|Hugh|the schoolmaster|Olive Grant|young Benedict|Doctor Shah"},
};

/* ---- ptaki: nazwa, dopełniacz, długość, miejsce, pora, głos, pokarm, uwaga ---- */

static const struct subject ptaki[] = {
    {{"zimorodek", "zimorodek", "zimorodka", "17", "nad strumieniem", "przez cały rok", "cienki gwizd", "małe ryby",
      "Kopie norę w stromym brzegu i wraca do niej co roku."}},
    {{"bocian-czarny", "bocian czarny", "bociana czarnego", "98", "w starym lesie", "od kwietnia do sierpnia",
      "cisza, czasem syczenie", "żaby i ryby", "Unika ludzi, dlatego gniazdo znaleziono dopiero po pięciu latach."}},
    {{"czapla-siwa", "czapla siwa", "czapli siwej", "94", "na stawach", "przez cały rok", "ochrypły krzyk", "ryby",
      "Stoi bez ruchu tak długo, że dzieci biorą ją za patyk."}},
    {{"jaskolka", "jaskółka", "jaskółki", "19", "w stodole", "od kwietnia do września", "wesoły szczebiot", "muchy",
      "Gniazdo z błota wisi nad drzwiami i nikt nie śmie go ruszyć."}},
    {{"dzieciol", "dzięcioł duży", "dzięcioła dużego", "24", "w parku", "przez cały rok", "krótkie bębnienie",
      "larwy i szyszki", "Kuje szyszki zawsze w tej samej szczelinie pnia."}},
    {{"sowa-uszata", "sowa uszata", "sowy uszatej", "36", "na cmentarzu", "zimą", "głuche pohukiwanie", "myszy",
      "Zimą siedzi ich w świerkach nawet dwanaście obok siebie."}},
    {{"szpak", "szpak", "szpaka", "21", "w sadzie", "od marca do października", "gwizdy i naśladowanie innych",
      "owady i wiśnie", "Jeden z nich nauczył się dzwonka listonosza."}},
    {{"zuraw", "żuraw", "żurawia", "115", "na mokrej łące", "od marca do listopada", "donośny klangor",
      "ziarno i owady", "Rano tańczą na łące, a wieczorem odlatują na noclegowisko."}},
};

static const struct aspect ptak_aspects[] = {
    {"", "{1} - gdzie go szukać", "{1}: gdzie żyje, kiedy go zobaczyć i jak brzmi jego głos.",
     "{1} ma {3} cm długości. [Najłatwiej spotkać go|U nas można go zobaczyć] {4}, {5}. [Poznasz go po głosie:|Jego "
     "głos to] {6}. Żywi się tak: {7}. {8}\n"
     "[Najlepiej przyjść o świcie|Warto zabrać lornetkę] i [stać cicho przez kwadrans|usiąść na ławce pod drzewem]. "
     "[Podobny bywa {~}.|Niedaleko żyje też {~}.]\n"
     "# W skrócie\n- Długość: {3} cm\n- Miejsce: {4}\n- Pora: {5}\n- Głos: {6}\n- Pokarm: {7}\n"},
    {"dziennik.html", "Z dziennika obserwatora: {1}", "Wpis z dziennika: spotkanie {4} o świcie.",
     "[Wstałam o {#3-5} rano.|Mgła, {#2-12} stopni, wiatr ze wschodu.] Poszłyśmy z {A} i czekałyśmy {4}. [Przez "
     "godzinę nic się nie działo.|Najpierw odezwały się tylko żaby.]\n"
     "Potem rozległ się głos: {6}. [To był na pewno {1}.|{1} pojawił się po lewej stronie.] [Obserwacja {2} trwała "
     "{#2-18} minut.|Widzieliśmy go bardzo wyraźnie.] {8}\n"
     "[Narysowałam go w zeszycie.|{A} zapisała datę i godzinę.] [To już {#12-90} wpis w tym roku.|Wracałyśmy "
     "szczęśliwe i zmarznięte.]\n"},
    {"ochrona.html", "Jak chronić {2}", "Co pomaga, a co szkodzi: ochrona {2} w naszej gminie.",
     "[Liczba par {2} wynosi u nas {#2-40}.|W ubiegłym roku doliczyliśmy się {#2-40} par.] [Najważniejszy jest spokój "
     "w czasie lęgów.|Najwięcej szkodzi osuszanie łąk.] {8}\n"
     "# Co możemy zrobić\n- [nie wycinać starych drzew|zostawić pas trzciny]\n- [wywiesić budki lęgowe|oczyścić staw "
     "jesienią]\n"
     "- [prowadzić psa na smyczy|nie używać trucizny]\n"
     "[Uwagi przyjmuje {A}.|Liczenie prowadzi {A} w każdą pierwszą niedzielę.] [Pokarm znajdzie sam: {7}.|Bez pokarmu, "
     "a więc bez tego: {7}, nie przetrwa.]\n"},
};

const struct theme theme_ptaki = {
    .lang = "pl",
    .folder = "ptaki",
    .name = "Ptaki mokradeł",
    .about = "Osiem ptaków, które odwiedzają nasze mokradła. Dla każdego jest opis, wpis z dziennika i kilka słów o "
             "ochronie.\n"
             "Czatownia jest otwarta przez cały rok; prosimy zamykać okienka.\n",
    SUBJECTS(ptaki),
    ASPECTS(ptak_aspects),
    .pools = {"Zofia|Halina|Agnieszka|Basia"},
};
