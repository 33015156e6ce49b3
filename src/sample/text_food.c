/* text_food.c - a bakery, a kitchen and an orchard. */
#include "sample/texts.h"

/* ---- bread: name, flour, hydration in %, leaven, hours of proof, oven in degrees, minutes, where from, remark ---- */

static const struct subject breads[] = {
    {{"country-sourdough", "country sourdough", "strong white flour with a fifth of wholemeal", "75",
      "a wheat starter fed twice a day", "14", "245", "45", "the farms above the mill",
      "Its crust sings when it leaves the oven: thin cracks run over the loaf and you can hear them from the door."}},
    {{"dark-rye", "dark rye", "coarse rye meal", "82", "a sour rye starter kept as stiff as clay", "16", "220", "70",
      "the northern villages, where wheat did not ripen",
      "Cut it on the second day, not before; on the first the crumb sticks to the knife like wet sand."}},
    {{"baguette", "baguette", "plain white flour of low ash", "68", "a pinch of fresh yeast and an old dough", "18",
      "250", "24", "the city bakeries of the last century",
      "The five cuts overlap by a third, and the ears they leave are what children break off on the way home."}},
    {{"ciabatta", "ciabatta", "soft white flour with a spoon of olive oil", "85", "a biga left overnight in the cellar",
      "20", "240", "28", "a miller who wanted an answer to the baguette",
      "Nobody shapes it; the dough is cut like a mattress and lifted on to the board with both hands."}},
    {{"potato-bread", "potato bread", "bread flour with mashed potatoes", "64", "fresh yeast", "5", "210", "50",
      "hungry years when flour was stretched with anything that boiled",
      "The potatoes keep it soft for four days, which is why sailors took it and nobody else could get any."}},
    {{"walnut-loaf", "walnut loaf", "wholemeal flour with toasted walnuts", "72", "a young wheat starter", "12", "230",
      "48", "the valley with the old walnut avenue",
      "The skins of the walnuts colour the crumb a faint violet, and customers ask every autumn whether it is dye."}},
    {{"spelt-tin", "spelt tin loaf", "wholegrain spelt flour", "78", "a spelt starter and honey", "9", "215", "55",
      "a monastery field that was sown again after two hundred years",
      "Spelt forgives nothing: knead it a minute too long and the dough turns to porridge in your hands."}},
    {{"milk-rolls", "milk rolls", "fine white flour with whole milk and butter", "58", "fresh yeast", "3", "200", "16",
      "Sunday breakfasts",
      "We brush them twice, once before the proof and once before the oven, and count them in scores, not dozens."}},
    {{"olive-fougasse", "olive fougasse", "white flour with black olives", "70", "a wheat starter and a little yeast",
      "8", "245", "20", "the fishermen's ovens on the south quay",
      "It is the bread we bake first, to learn whether the oven is hot enough for the others."}},
    {{"oat-porridge-bread", "oat porridge bread", "white flour with cooked oats", "88", "a lively wheat starter", "15",
      "240", "50", "a kitchen that had made too much porridge",
      "The porridge goes in cold, at the last fold, or the starter gives up."}},
    {{"seeded-batard", "seeded batard", "malted flour with sunflower, linseed and sesame", "76",
      "a wheat starter on its third feed", "13", "240", "46", "the bird keepers who asked for it first",
      "Soak the seeds the evening before: dry ones drink the water that the crumb was promised."}},
    {{"brioche", "brioche", "white flour with eggs and a great deal of butter", "52", "fresh yeast and patience", "22",
      "180", "32", "weddings",
      "The butter is beaten with a rolling pin while it is cold, so that it bends instead of melting."}},
    {{"flatbread", "griddle flatbread", "plain flour with yoghurt", "62", "baking soda", "1", "280", "4",
      "the harbour kitchens that had no oven",
      "It is the only thing we sell that was never in an oven, and the queue for it is the longest."}},
    {{"pumpernickel", "pumpernickel", "whole rye kernels and rye meal", "95", "a sour rye starter", "24", "120", "960",
      "a town that banked its fires overnight",
      "Sixteen hours in a closed tin turn it nearly black without a grain of malt."}},
};

static const struct aspect bread_aspects[] = {
    {"", "[The|Our] {1}", "What {1} is, what it is made of and where it comes from.",
     "[Our|The] {1} is made of {2} and raised with {4}. [We bake it on {d} and {d}.|It leaves the oven on {d} before "
     "seven.|There is some left until noon, as a rule.] {9}\n"
     "[It came to us from|We owe it to] {8}. [{A} brought the first written recipe in {#1921-1987}.|{A} baked it here "
     "for {#12-40} years and left notes in pencil on a flour bag.|{A} still decides when the dough is ready.]\n"
     "# In short\n"
     "- Flour: {2}\n- Hydration: {3} %\n- Leaven: {4}\n- Proof: {5} hours\n- Oven: {6} degrees for {7} minutes\n"
     "[If you like it, try the {~} too.|People who buy it usually take the {~} as well.|It keeps longer than the {~}.] "
     "[Ask for a half loaf; nobody minds.|Bring your own bag and the second roll is free.|We cut it for you, but it "
     "keeps better whole.]\n"},
    {"recipe.html", "Recipe: {1} for the home oven",
     "Quantities and steps for {1} at {3} % hydration, for an ordinary kitchen oven.",
     "This is the {1} of the shop, [scaled down to {#2-3} loaves|for one evening and one morning|as {A} teaches it in "
     "the winter course]. [Weigh everything, the water too.|Read it once to the end before you begin.|Nothing here "
     "needs a machine.]\n"
     "# Ingredients\n"
     "- {#480-520} g {2}\n- water for {3} % hydration, at {#22-30} degrees\n- {4}\n- {#9-12} g salt\n"
     "# Method\n"
     "[Mix flour and water and leave them alone for {#20-60} minutes.|Stir flour and water until nothing is dry, then "
     "wait {#25-50} minutes: this rest is called autolyse.] Add the leaven, then the salt. [Fold four times, half an "
     "hour apart.|Knead until the dough leaves the bowl clean.|Slap it on the board for {#6-10} minutes; the "
     "neighbours will get used to it.]\n"
     "Let it prove for {5} hours [in a cool room|under a cloth near the window|covered, out of the draught]. [A finger "
     "pressed into the dough should leave a dent that comes back slowly.|When it trembles as you move the basket, it "
     "is ready.] Heat the oven to {6} degrees [with a stone inside|with a cup of water on the floor of it|and be "
     "patient: the lamp lies] and bake for {7} minutes.\n"
     "{9} [Let it cool on a rack; steam has to leave.|Do not cut it while it is warm, whatever they say.]\n"},
    {"hydration.html", "How wet is the dough of {1}? Hydration explained",
     "{1} has a hydration of {3} %. What that number means and how to change it.",
     "Hydration is the weight of the water as a share of the weight of the flour. [For {1} we use {3} %|The dough of "
     "{1} has {3} %]: to every 1000 g of {2} belong {3}0 g of water. [That is more than it sounds.|In summer we take "
     "one point off.|On rainy days the flour has had some of it already.]\n"
     "# Wetter or drier\n"
     "[A wetter dough opens the crumb and tires the arms.|With more water the holes grow and the shape gives way.] [A "
     "drier one holds its shape, cuts clean and stales sooner.|With less you get a close crumb for sandwiches.] "
     "[Compare the {~}, which is another world.|The {~} shows the other end of the scale.]\n"
     "Change it by two points at a time and write the result down. [{A} keeps a card for every batch since "
     "{#1998-2019}.|Our notebook says that {#3-9} of ten failures were a wrong scale.]\n"
     "# Rule of thumb\n"
     "- Under 60 %: stiff, for rolls and plaits\n- 65 to 75 %: most loaves\n- Over 80 %: wet hands and a scraper\n"},
    {"history.html", "[A short history of|Where it comes from:|The story of] {1}",
     "How {1} came to the bakery, told by those who baked it.",
     "[The first mention of {1} in our books is from {#1860-1930}.|A page of {#1871-1925} lists {1} between candles "
     "and rope.] It came from {8}. [Flour was dear and fuel dearer,|There was no shop then, only a hatch in the "
     "wall,|The mill stood still in dry summers,] so [people brought their own dough and marked it with a stamp|every "
     "household had its day at the oven|a loaf had to last a week].\n"
     "{A} [remembers|told us how] [the oven was lit with vine cuttings|the dough was carried up in a cradle|the last "
     "loaf was always given to the night watchman]. {9}\n"
     "# What changed\n"
     "[The flour used to be {2}, as today, but milled between stones.|Today we use {2}; the old recipe says only "
     "\"flour, what there is\".] [The proof was counted in prayers, not in hours; we say {5} hours.|Where we write {6} "
     "degrees, the old book says \"a hot oven\".] The leaven is still {4}[, or so we like to think|].\n"},
    {"trouble.html", "What can go wrong with {1}", "Five faults of {1}, their causes, and what to do about them.",
     "[Nobody's {1} is good the first time.|Every fault below has happened in our own oven.] [Look at the crumb before "
     "you blame the flour.|Begin with the thermometer.]\n"
     "# It stays flat\n"
     "[The leaven was asleep|The proof was too long|The oven was not at {6} degrees]. [Next time feed the starter "
     "earlier.|Shorten the {5} hours by two on warm days.|Give the stone twenty minutes more.]\n"
     "# The crumb is gummy\n"
     "It was cut too early or baked too short: {7} minutes are a minimum. [Rye needs a night of rest.|Knock on the "
     "bottom: it should sound like a door.]\n"
     "# The crust is pale\n"
     "[More steam in the first minutes, none in the last.|A spoon of malt in the water helps.|Leave the door ajar for "
     "the last {#3-6} minutes.]\n"
     "# It tastes of nothing\n"
     "Salt was forgotten, or the dough had no time. {9}\n"
     "[If it still fails, bring us a slice on a {d}; {A} likes nothing better.|Failing that, bake the {~} first.]\n"},
};

const struct theme theme_bread = {
    .lang = "en",
    .folder = "bread",
    .name = "Breads of the house",
    .about = "Fourteen breads, each with its recipe, its hydration, its history and its faults. [Not all are baked "
             "every day.|The board at the door says what is in the oven.]\n"
             "Our sourdough starter is older than the shop; ask for a spoonful and you may have it for nothing.\n",
    SUBJECTS(breads),
    ASPECTS(bread_aspects),
    .pools = {"Agnes Miller|old Thomas Reed|Hannah Brandt|Peter Lowe|Ruth Calder|Samir Haddad", NULL, NULL,
              "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday"},
};

/* ---- ricette: nome, ingrediente principale, regione, minuti, tempo, contorno, vino, consiglio ---- */

static const struct subject ricette[] = {
    {{"ribollita", "ribollita", "il cavolo nero e il pane raffermo", "Toscana", "150", "l'inverno", "fagioli all'olio",
      "un rosso giovane", "Si scalda due volte, e la seconda è la più buona: per questo si chiama così."}},
    {{"risotto-zafferano", "risotto allo zafferano", "il riso e i pistilli di zafferano", "Lombardia", "35",
      "l'autunno", "un ossobuco", "un bianco secco",
      "I pistilli si lasciano in poco brodo tiepido per un'ora, mai sul fuoco."}},
    {{"orecchiette-cime", "orecchiette con le cime di rapa", "le cime di rapa", "Puglia", "40", "febbraio",
      "pane tostato con l'olio", "un rosato fresco",
      "Le cime cuociono nella stessa acqua della pasta, e l'acciuga si scioglie senza friggere."}},
    {{"caponata", "caponata", "le melanzane e il sedano", "Sicilia", "70", "agosto", "pane di semola",
      "un rosso leggero", "Riposa una notte intera, perché aceto e zucchero devono fare la pace."}},
    {{"canederli", "canederli", "il pane raffermo e lo speck", "Alto Adige", "60", "la neve", "un brodo chiaro",
      "una birra ambrata", "Se si rompono nell'acqua manca un uovo; se rimbalzano ce n'è uno di troppo."}},
    {{"pesto-basilico", "trofie al pesto", "il basilico piccolo e i pinoli", "Liguria", "25", "giugno",
      "patate e fagiolini", "un bianco di mare",
      "Il mortaio deve essere freddo, altrimenti il basilico diventa nero."}},
    {{"polenta-funghi", "polenta con i funghi", "la farina gialla e i porcini", "Friuli", "90", "ottobre",
      "formaggio di malga", "un rosso robusto",
      "Si mescola sempre nello stesso verso, dicono i vecchi, e nessuno ha mai provato il contrario."}},
    {{"cacciucco", "cacciucco", "il pesce povero del porto", "Livorno", "80", "settembre", "pane agliato",
      "un rosso, contro ogni regola", "Ci vogliono tanti pesci quante sono le c del suo nome."}},
    {{"pane-carasau", "pane carasau", "la semola rimacinata", "Sardegna", "120", "tutto l'anno", "pecorino e miele",
      "un bianco profumato", "La sfoglia si gonfia come un pallone e va divisa in due mentre brucia le dita."}},
    {{"torta-nocciole", "torta di nocciole", "le nocciole tostate", "Piemonte", "55", "dicembre", "zabaione caldo",
      "un moscato", "Non c'è farina: tengono insieme tutto le uova e la fiducia."}},
    {{"minestra-farro", "minestra di farro", "il farro e i borlotti", "Garfagnana", "110", "novembre", "olio nuovo",
      "un rosso senza etichetta",
      "Metà dei fagioli si passa al setaccio, così la minestra resta cremosa senza panna."}},
    {{"sarde-saor", "sarde in saor", "le sarde e le cipolle bianche", "Venezia", "45", "luglio", "polenta bianca",
      "un bianco frizzante", "Le cipolle devono essere tante quante le sarde, a peso e non a occhio."}},
    {{"pasta-ceci", "pasta e ceci", "i ceci secchi", "Lazio", "130", "il venerdì", "un filo d'olio al rosmarino",
      "un bianco dei colli", "I ceci si mettono a bagno la sera prima, e l'acqua si butta sulle piante."}},
    {{"gnocchi-patate", "gnocchi di patate", "le patate vecchie", "Veneto", "65", "il carnevale", "burro e salvia",
      "un rosso morbido", "Le patate si schiacciano calde e si impastano fredde, con meno farina che si può."}},
};

static const struct aspect ricetta_aspects[] = {
    {"", "Ricetta: {1}", "La ricetta di {1} come si fa in {3}, passo per passo.",
     "[La ricetta di {1} viene da {3}|{3} è la patria di questa ricetta] e [nasce con|vive di] {2}. [Ci vogliono {4} "
     "minuti e poca fretta.|In cucina si resta {4} minuti, più il tempo di parlare.] {8}\n"
     "# Ingredienti per {#4-6} persone\n"
     "- {2}\n- {#1-3} spicchi d'aglio\n- olio extravergine, [quanto basta|quattro cucchiai]\n- sale grosso e pepe\n"
     "# Preparazione\n"
     "[Si comincia con un soffritto lento.|Prima di tutto si prepara quello che serve e si libera il tavolo.] [La "
     "fiamma resta bassa per {#10-25} minuti.|Il coperchio resta socchiuso.] Poi si aggiunge il resto [un poco alla "
     "volta|mescolando con un cucchiaio di legno].\n"
     "[Si serve con|Accanto ci sta bene] {6}, e nel bicchiere {7}. [Chi vuole cambiare prova {~}.|Il giorno dopo è il "
     "turno di {~}.]\n"},
    {"storia.html", "La storia di {1}", "Da dove viene {1} e chi lo cucinava in {3}.",
     "[Nei quaderni di {A} la ricetta di {1} compare nel {#1890-1958}.|Il nome di {1} si legge per la prima volta in "
     "un conto di osteria del {#1780-1890}.] [A quel tempo|Allora] in {3} [la carne si vedeva a Natale|si cucinava per "
     "chi tornava dai campi|il sale costava più del pane].\n"
     "Il piatto è legato a {5}: [è allora che {2} sono al loro meglio|prima non vale la pena di provarci|e fuori "
     "stagione lo si fa solo per gli ospiti]. {8}\n"
     "[Ogni famiglia ha la sua versione e non la scrive.|{A} diceva che la ricetta scritta è sempre quella "
     "sbagliata.|Due paesi vicini litigano ancora su chi l'abbia inventato.]\n"},
    {"spesa.html", "La spesa per {1}: che cosa comprare e quando",
     "Come scegliere {2}, quanto comprarne e in quale stagione.",
     "Per {1} la spesa conta più del fornello. [Il momento giusto è {5}.|Si compra volentieri quando arriva {5}.] "
     "[Bisogna guardare bene|Il banco migliore ha] {2}: [niente macchie, niente scuse|odore buono e peso onesto|se il "
     "venditore sorride troppo, meglio il banco accanto].\n"
     "# La lista\n"
     "- {2}\n- {#300-900} g di [cipolle|verdure da brodo|pomodori maturi]\n- {#1-4} [limoni|uova|mazzetti di erbe]\n"
     "- {6}, da mettere accanto\n- una bottiglia: {7}\n"
     "[Con {#9-24} euro si mangia in quattro.|Si spende poco: {#6-15} euro e il pane che c'è.] {8} [{A} fa la spesa il "
     "{d} mattina.|Il {d} il mercato è più tranquillo.]\n"},
    {"errori.html", "Gli errori da evitare con {1}", "I tre sbagli più comuni quando si prepara {1}.",
     "[Chi sbaglia {1} di solito sbaglia il tempo.|Tre sbagli rovinano {1} più spesso degli altri.]\n"
     "# Troppa fretta\n"
     "Servono {4} minuti[, e non uno di meno|; chi ne ha la metà faccia un'insalata]. [Il fuoco alto indurisce {2}.|Il "
     "bollore forte intorbida tutto.]\n"
     "# Troppo sale\n"
     "[Si assaggia alla fine|Il sale si aggiunge quando il liquido è calato], perché {6} [è già saporito|ne porta con "
     "sé].\n"
     "# Il vino sbagliato\n"
     "{A} consiglia {7}[ e nient'altro|, servito non troppo freddo]. {8}\n"
     "[Se tutto è perduto, il cane del vicino non è esigente.|Un errore si salva con il brodo, due con il "
     "formaggio.]\n"},
};

const struct theme theme_ricette = {
    .lang = "it",
    .folder = "ricette",
    .name = "Le ricette della nonna",
    .about = "Quattordici ricette di casa, con la storia, la spesa e gli errori da evitare. Ogni piatto è stato "
             "cucinato almeno tre volte prima di finire in questo quaderno.\n"
             "Le dosi sono per quattro persone affamate; chi ha meno fame inviti qualcuno.\n",
    SUBJECTS(ricette),
    ASPECTS(ricetta_aspects),
    .pools = {"nonna Ilaria|zia Teresa|il signor Bruno|Caterina Valli|don Matteo", NULL, NULL,
              "lunedì|mercoledì|giovedì|sabato"},
};

/* ---- citrus: name, genitive, month of harvest, taste, use, trees, remark ---- */

static const struct subject citrus[] = {
    {{"portokali", "το πορτοκάλι", "του πορτοκαλιού", "τον Ιανουάριο", "γλυκό και δροσερό", "χυμό και μαρμελάδα", "240",
      "Τα πρώτα δέντρα τα φύτεψε ο προπάππους μας την ημέρα που γεννήθηκε ο γιος του."}},
    {{"lemoni", "το λεμόνι", "του λεμονιού", "όλο τον χρόνο", "ξινό και μυρωδάτο", "λεμονάδα και σάλτσες", "180",
      "Στο χωριό λένε πως όποιος έχει λεμονιά στην αυλή δεν χρειάζεται γιατρό."}},
    {{"mandarini", "το μανταρίνι", "του μανταρινιού", "τον Δεκέμβριο", "απαλό και αρωματικό", "γλυκό του κουταλιού",
      "150", "Τα παιδιά γεμίζουν τις τσέπες τους και αφήνουν τις φλούδες πάνω στη σόμπα."}},
    {{"grapefruit", "το γκρέιπφρουτ", "του γκρέιπφρουτ", "τον Φεβρουάριο", "πικρό και ζωηρό", "σαλάτες", "40",
      "Το έφερε ένας ναυτικός και για χρόνια κανείς δεν ήξερε πώς τρώγεται."}},
    {{"kitro", "το κίτρο", "του κίτρου", "τον Νοέμβριο", "αρωματικό με χοντρή φλούδα", "λικέρ και γλυκά", "25",
      "Η φλούδα του μένει τρεις μέρες στο νερό, για να φύγει η πίκρα."}},
    {{"nerantzi", "το νεράντζι", "του νεραντζιού", "τον Μάρτιο", "πικρό όσο κανένα άλλο", "γλυκό και ανθόνερο", "60",
      "Τα άνθη του μαζεύονται την αυγή, πριν τα βρουν οι μέλισσες."}},
    {{"elia", "η ελιά", "της ελιάς", "τον Οκτώβριο", "πικρή και γεμάτη", "λάδι και φαγητό", "300",
      "Το ελαιοτριβείο δουλεύει νύχτα και μέρα και όλο το χωριό μυρίζει φρέσκο λάδι."}},
    {{"syko", "το σύκο", "του σύκου", "τον Αύγουστο", "μελωμένο", "αποξηραμένα και μαρμελάδα", "70",
      "Απλώνονται στην ταράτσα πάνω σε καλάμια και σκεπάζονται κάθε βράδυ."}},
    {{"rodi", "το ρόδι", "του ροδιού", "τον Σεπτέμβριο", "γλυκόξινο", "χυμό και στολίδι του σπιτιού", "55",
      "Την Πρωτοχρονιά το σπάμε στο κατώφλι και μετράμε τους σπόρους για καλή τύχη."}},
    {{"amygdalo", "το αμύγδαλο", "του αμυγδάλου", "τον Ιούλιο", "γλυκό και τραγανό", "κουραμπιέδες και σουμάδα", "110",
      "Η αμυγδαλιά ανθίζει πρώτη, πολλές φορές μέσα στο χιόνι."}},
};

static const struct aspect citrus_aspects[] = {
    {"", "{1} [του περιβολιού|στο περιβόλι μας]", "Τι είναι {1}, πότε ωριμάζει και πώς το χρησιμοποιούμε.",
     "Στο περιβόλι μας [υπάρχουν {6} δέντρα|μεγαλώνουν {6} δέντρα] και {1} ωριμάζει {3}. [Η γεύση είναι|Στο στόμα "
     "είναι] {4}. {7}\n"
     "[Το χρησιμοποιούμε για|Οι νοικοκυρές το θέλουν για] {5}. [Δίπλα του μεγαλώνει {~}.|Αν σας αρέσει, δοκιμάστε και "
     "{~}.] [Η {A} το πουλάει στο παζάρι κάθε Σάββατο.|Η {A} κρατάει πάντα ένα καλάθι για τους επισκέπτες.]\n"
     "# Με λίγα λόγια\n- Συγκομιδή: {3}\n- Γεύση: {4}\n- Χρήση: {5}\n- Δέντρα: {6}\n"},
    {"kalliergeia.html", "Πώς καλλιεργούμε {1}", "Το πότισμα, το κλάδεμα και το χώμα {2}.",
     "[Το χώμα πρέπει να στραγγίζει καλά.|Το δέντρο δεν αγαπά τα βρεγμένα πόδια.] [Ποτίζουμε κάθε {#5-12} μέρες το "
     "καλοκαίρι|Το νερό έρχεται από το πηγάδι με το παλιό αυλάκι] και [σκαλίζουμε μετά τη βροχή|σκεπάζουμε τις ρίζες "
     "με άχυρο].\n"
     "# Κλάδεμα\n"
     "[Κόβουμε μόνο τα ξερά κλαδιά|Ανοίγουμε το δέντρο στη μέση, για να μπαίνει το φως], [όταν περάσει ο "
     "παγετός|αμέσως μετά τη συγκομιδή]. Η συγκομιδή {2} γίνεται {3}.\n"
     "# Εχθροί\n"
     "[Οι ψείρες και η μύγα κάνουν τη μεγαλύτερη ζημιά.|Ο δυνατός νοτιάς ρίχνει τους καρπούς πριν την ώρα τους.] "
     "[Βάζουμε παγίδες με ξίδι.|Ψεκάζουμε με σαπούνι και νερό.] {7}\n"},
    {"syntages.html", "Συνταγές με {1}", "Δύο απλές συνταγές με {1} από την κουζίνα του χωριού.",
     "[Από {1} φτιάχνουμε {5}.|Στην κουζίνα {1} γίνεται {5}.] [Η συνταγή είναι της {A}.|Τη συνταγή μάς την έδωσε η "
     "{A}, με βαριά καρδιά.]\n"
     "# Υλικά\n- {#1-3} κιλά φρούτα\n- {#400-900} γραμμάρια ζάχαρη\n- λίγο νερό και ένα κλαδί "
     "[δυόσμο|βασιλικό|κανέλα]\n"
     "# Εκτέλεση\n"
     "[Πλένουμε τους καρπούς και τους κόβουμε στη μέση.|Καθαρίζουμε τους καρπούς το προηγούμενο βράδυ.] [Τους βράζουμε "
     "σε χαμηλή φωτιά για {#30-80} λεπτά.|Τους αφήνουμε στη ζάχαρη μία νύχτα.] Η γεύση μένει {4}. {7}\n"},
    {"istoria.html", "Η ιστορία {2} στο χωριό", "Πώς ήρθε {1} στο χωριό και ποιος το φύτεψε πρώτος.",
     "{7} [Το {#1880-1935} υπήρχαν μόνο δέκα ρίζες.|Στα παλιά χαρτιά του {#1870-1930} γράφεται για πρώτη φορά το όνομα "
     "{2}.] [Τα καΐκια έπαιρναν τα κασόνια από τον μικρό μόλο.|Ο δρόμος δεν υπήρχε και τα καλάθια κατέβαιναν με τα "
     "γαϊδούρια.]\n"
     "[Σήμερα|Τώρα] έχουμε {6} δέντρα και η συγκομιδή γίνεται {3}. [Οι νέοι επιστρέφουν για να βοηθήσουν.|Τα σχολεία "
     "έρχονται εκδρομή για να δουν πώς μαζεύουμε τους καρπούς.] Η {A} [θυμάται ακόμη τα τραγούδια της "
     "συγκομιδής|διηγείται πως το νερό μοιραζόταν με την ώρα].\n"},
};

const struct theme theme_citrus = {
    .lang = "el",
    .folder = "karpoi",
    .name = "Οι καρποί του περιβολιού",
    .about = "Δέκα δέντρα και οι καρποί τους: πότε ωριμάζουν, πώς τα καλλιεργούμε, τι μαγειρεύουμε με αυτά και ποια "
             "είναι η ιστορία τους στο χωριό μας.\nΤο περιβόλι είναι ανοιχτό από την ανατολή ως τη δύση του ήλιου.\n",
    SUBJECTS(citrus),
    ASPECTS(citrus_aspects),
    .pools = {"κυρία Ελένη|γιαγιά Μαρία|κυρία Σοφία|θεία Κατερίνα"},
};
