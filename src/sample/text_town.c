/* text_town.c - a museum in German, a garden in French, a library in Spanish and a town council in Portuguese. */
#include "sample/texts.h"

/* ---- Museum: Name, Genitiv, Jahr, Material, Fundort, Stifter, Raum, Maß, Bemerkung ---- */

static const struct subject stuecke[] = {
    {{"turmuhr", "die Turmuhr", "der Turmuhr", "1687", "geschmiedetes Eisen", "im Dachstuhl der Marktkirche",
      "die Familie Hollerbach", "Raum 1", "1,40 m hoch",
      "Sie geht vier Minuten vor, und niemand im Haus will daran etwas ändern."}},
    {{"zunfttruhe", "die Zunfttruhe", "der Zunfttruhe", "1612", "Eiche mit Beschlägen aus Zinn",
      "in der Stube der Weber", "der letzte Zunftmeister", "Raum 2", "92 cm breit",
      "Drei Schlösser verlangen drei Schlüssel, die nie in einer Tasche liegen durften."}},
    {{"pestkreuz", "das Pestkreuz", "des Pestkreuzes", "1636", "Sandstein", "am Weg nach Oberwinden", "unbekannt",
      "Raum 3", "1,10 m hoch", "Wer es berührte, so hieß es, blieb ein Jahr lang gesund."}},
    {{"schlittenglocken", "die Schlittenglocken", "der Schlittenglocken", "1840", "Bronze", "auf einem Dachboden",
      "Fräulein Amalie Zech", "Raum 3", "21 Stück", "Jede klingt einen halben Ton höher als die vorige."}},
    {{"globus", "der Erdglobus", "des Erdglobus", "1751", "Papier über Gips", "in der Lateinschule", "Rektor Sebald",
      "Raum 4", "47 cm Durchmesser", "Kalifornien ist darauf noch eine Insel."}},
    {{"webstuhl", "der Webstuhl", "des Webstuhls", "1790", "Buche", "in der Werkstatt Roth", "die Geschwister Roth",
      "Raum 5", "2,30 m breit", "An Sonntagen wird auf ihm ein Tuch weitergewebt, das 1911 begonnen wurde."}},
    {{"feuerspritze", "die Feuerspritze", "der Feuerspritze", "1829", "Kupfer und Esche", "im Spritzenhaus",
      "die freiwillige Feuerwehr", "im Hof", "3,20 m lang",
      "Beim großen Brand kam sie zu spät, weil das Pferd lahmte."}},
    {{"apotheke", "die Reiseapotheke", "der Reiseapotheke", "1774", "Nussbaum und Glas", "in einem Gasthof",
      "Apotheker Wild", "Raum 2", "48 Fläschchen", "In einem der Fläschchen ist noch Lavendel, und er duftet."}},
    {{"spielkarten", "die Spielkarten", "der Spielkarten", "1560", "handbemalte Pappe", "im Einband eines Kirchenbuchs",
      "das Pfarramt", "Raum 4", "34 Blatt", "Die Herz-Sieben fehlt; im Museumsladen gibt es sie als Postkarte."}},
    {{"puppenhaus", "das Puppenhaus", "des Puppenhauses", "1865", "Lindenholz und Stoff", "auf dem Gut Lerchenau",
      "Baronin von Thal", "Raum 6", "acht Zimmer",
      "Im Keller des Hauses hängen Schinken, kleiner als ein Fingernagel."}},
    {{"meilenstein", "der Meilenstein", "des Meilensteins", "1722", "Granit", "unter der Straße nach Süden",
      "das Straßenamt", "im Hof", "1,70 m hoch", "Die Entfernung stimmt nicht; der Steinmetz war verliebt."}},
    {{"fernrohr", "das Fernrohr", "des Fernrohrs", "1803", "Messing", "im Turmzimmer", "der Uhrmacher Lenz", "Raum 1",
      "1,05 m lang", "Mit ihm sah man den Kometen von 1811 drei Nächte vor der Hauptstadt."}},
};

static const struct aspect stueck_aspects[] = {
    {"", "{1} von {3}", "{1}, {4}, {8}: zu sehen in {7}.",
     "{1} stammt aus dem Jahr {3} und besteht aus {4}. [Gefunden wurde das Stück|Entdeckt hat man das Stück] {5}; "
     "[gestiftet|dem Museum übergeben] hat es {6}. {9}\n"
     "[Sie finden es|Zu sehen ist es] hier: {7}. [Bitte nicht berühren, auch wenn es schwerfällt.|Am {d} erzählt {A} "
     "mehr davon.|Das Licht ist gedämpft, weil die Farben es verlangen.]\n"
     "# Angaben\n- Jahr: {3}\n- Material: {4}\n- Maß: {8}\n- Standort: {7}\n- Stifter: {6}\n"
     "[Daneben steht|Im selben Raum sehen Sie] [auch|außerdem] dies: {~}.\n"},
    {"herkunft.html", "Herkunft {2}: eine Spurensuche", "Woher {1} kommt und durch wessen Hände das Stück ging.",
     "[Über die Herkunft {2} wissen wir einiges und vermuten den Rest.|Die Spur {2} führt weit zurück.] Entstanden um "
     "{3}, [vielleicht in der Werkstatt eines Meisters aus dem Tal|vermutlich am Ort|nach einer Rechnung über {#12-90} "
     "Gulden], tauchte das Stück {5} wieder auf.\n"
     "{A} [fand im Archiv einen Brief von {#1790-1890}|verglich die Handschrift mit dem Kirchenbuch|zweifelt bis heute "
     "an der Jahreszahl]. {9}\n"
     "# Stationen\n- {3}: entstanden aus {4}\n- {#1830-1920}: [verkauft|vererbt|vergessen]\n- {#1925-1990}: ins Museum "
     "gekommen durch {6}\n"},
    {"restaurierung.html", "Restaurierung {2}", "Wie {1} gereinigt, gefestigt und ergänzt wurde.",
     "[Vor der Restaurierung {2} war kaum noch etwas zu erkennen.|Die Restaurierung {2} dauerte {#4-30} Monate.] {4} "
     "[verzeiht wenig|altert auf seine eigene Art|verlangt trockene Luft]. [Zuerst wurde fotografiert, dann erst "
     "berührt.|Am Anfang stand der Staub: {#80-900} Gramm.]\n"
     "# Schritte\n- [Reinigen mit weichem Pinsel|Reinigen mit destilliertem Wasser]\n- [Festigen loser "
     "Stellen|Entfernen alter Lackschichten]\n- [Ergänzen nur dort, wo es trägt|Ergänzungen bleiben erkennbar]\n"
     "{A} [arbeitete daran mit der Lupe|fand dabei eine verborgene Inschrift|sagt, das Schwerste sei das Aufhören]. "
     "{9}\n"
     "[Die Kosten von {#900-9000} Euro trug ein Verein.|Bezahlt wurde mit dem Erlös des Sommerfests.]\n"},
    {"fuehrung.html", "Führung: {1}", "Termine und Treffpunkt der Führung zum Thema {1}.",
     "[Die Führung dauert {#30-75} Minuten.|In {#30-75} Minuten erfahren Sie das Wichtigste.] Treffpunkt: {7}. [Kinder "
     "sind willkommen.|Für Schulklassen gibt es ein Suchspiel.] [Eine Anmeldung ist nötig.|Sie brauchen sich nicht "
     "anzumelden.]\n"
     "# Termine\n- jeden {d} um {#10-16} Uhr\n- am {%} mit {A}\n- [im Winter nach Absprache|im Sommer auch abends]\n"
     "# Darum geht es\n{9} [Sie erfahren, warum {4} gewählt wurde.|Sie dürfen eine Nachbildung in die Hand nehmen.] "
     "[Wer mehr Zeit hat, sieht sich danach das hier an: {~}.|Die Führung endet bei einem anderen Stück: {~}.]\n"},
};

const struct theme theme_museum = {
    .lang = "de",
    .folder = "sammlung",
    .name = "Die Sammlung",
    .about = "Zwölf Stücke aus der Sammlung des Stadtmuseums, jedes mit seiner Herkunft, seiner Restaurierung und den "
             "Führungen.\nDas Museum ist von Mittwoch bis Sonntag geöffnet; am ersten Sonntag im Monat ist der "
             "Eintritt frei.\n",
    SUBJECTS(stuecke),
    ASPECTS(stueck_aspects),
    .pools = {"Frau Doktor Ebner|Herr Kastner|die Restauratorin Lang|unser Hausmeister|Frau Wieland", NULL, NULL,
              "Mittwoch|Donnerstag|Freitag|Samstag|Sonntag"},
};

/* ---- jardin : nom, avec de, mois de semis, mois de récolte, distance, arrosage, ennemi, usage, remarque ---- */

static const struct subject plantes[] = {
    {{"tomate-ancienne", "la tomate ancienne", "de la tomate ancienne", "mars", "août", "60",
      "au pied, jamais sur les feuilles", "le mildiou", "les salades et les bocaux",
      "La plus laide est toujours la meilleure."}},
    {{"artichaut", "l'artichaut", "de l'artichaut", "avril", "juin", "100", "abondant la première année",
      "les pucerons noirs", "la table du dimanche",
      "Si on l'oublie, il fait une fleur violette que les bourdons ne quittent plus."}},
    {{"rosier-grimpant", "le rosier grimpant", "du rosier grimpant", "novembre", "juin", "150", "rare et profond",
      "la rouille", "le mur du sud",
      "Il a poussé par la fenêtre de la serre et personne n'a eu le cœur de le couper."}},
    {{"poirier", "le poirier d'hiver", "du poirier d'hiver", "décembre", "octobre", "400", "seulement en été sec",
      "la tavelure", "les compotes", "Ses poires sont dures comme du bois jusqu'à Noël, puis fondent en une semaine."}},
    {{"lavande", "la lavande", "de la lavande", "mai", "juillet", "40", "presque aucun", "l'humidité", "les armoires",
      "On la coupe à midi, quand les abeilles font la sieste."}},
    {{"courge", "la courge musquée", "de la courge musquée", "mai", "octobre", "200", "généreux", "les limaces",
      "la soupe d'hiver", "Une seule plante a traversé l'allée, la haie et la moitié du potager voisin."}},
    {{"haricot", "le haricot à rames", "du haricot à rames", "mai", "août", "30", "régulier", "la mouche des semis",
      "les conserves", "Les enfants cachent leurs messages dans la cabane de rames."}},
    {{"asperge", "l'asperge", "de l'asperge", "mars", "mai", "50", "modéré", "le criocère", "les tables de printemps",
      "Il faut attendre trois ans, et c'est la meilleure leçon du jardin."}},
    {{"menthe", "la menthe poivrée", "de la menthe poivrée", "avril", "juillet", "30", "fréquent",
      "elle-même, car elle envahit", "le thé", "Plantée dans un pot sans fond, elle s'évade quand même."}},
    {{"tulipe", "la tulipe sauvage", "de la tulipe sauvage", "octobre", "avril", "10", "aucun", "les campagnols",
      "le bord des chemins", "Elle revient dans l'herbe depuis le temps du verger."}},
    {{"figuier", "le figuier", "du figuier", "mars", "septembre", "500", "rare", "le gel", "les confitures",
      "Il a gelé en quatre-vingt-cinq et il est reparti de la souche, plus large qu'avant."}},
    {{"framboisier", "le framboisier", "du framboisier", "novembre", "juin", "50", "régulier en été",
      "le ver des framboises", "les tartes", "Les merles connaissent la date de la récolte mieux que nous."}},
};

static const struct aspect plante_aspects[] = {
    {"", "{1} : fiche de culture", "Semer, arroser et récolter : la fiche {2}.",
     "[Au jardin, {1} se sème ou se plante en {3}|On sème ou on plante en {3}] et se récolte en {4}. [Comptez {5} "
     "centimètres entre les pieds.|Il faut {5} centimètres entre deux pieds.] L'arrosage : {6}. {9}\n"
     "[On en fait|Chez nous, la récolte va à] ceci : {8}. [Son grand ennemi est {7}.|Il faut surveiller {7}.] [Le "
     "voisin idéal est {~}.|On peut planter à côté {~}.]\n"
     "# En bref\n- Plantation : {3}\n- Récolte : {4}\n- Distance : {5} cm\n- Arrosage : {6}\n- Ennemi : {7}\n"},
    {"planter.html", "Planter et semer : {1}", "Quand et comment planter, la terre et la distance, pour {1}.",
     "[Le bon mois est {3}.|On attend {3}, quand la terre se réchauffe ou se repose.] [La terre doit être ameublie sur "
     "{#20-45} centimètres.|On mélange à la terre {#2-5} pelles de compost.] [Les plants se mettent à {5} centimètres "
     "les uns des autres.|Un cordeau, un mètre, et {5} centimètres entre chaque pied.]\n"
     "# Les gestes\n- [creuser un trou deux fois plus large que la motte|tracer un sillon peu profond]\n- [arroser une "
     "fois, copieusement|tasser du pied, sans colère]\n- [étiqueter, car on oublie|pailler avant midi]\n"
     "{A} [plante toujours à la lune descendante, et nous n'osons pas rire|préfère les soirs sans vent|garde ses "
     "graines dans des boîtes à bonbons]. {9}\n"},
    {"maladies.html", "Maladies et ennemis {2}", "Reconnaître et combattre {7} sans poison.",
     "Le premier danger {2} est celui-ci : {7}. [On le remarque aux feuilles|Les signes viennent après la pluie] : "
     "[taches brunes|trous ronds|bords secs]. [Ôtez les parties atteintes et ne les mettez pas au compost.|Agissez le "
     "matin, avant la chaleur.]\n"
     "# Ce qui aide\n- [du purin d'ortie, dilué {#8-20} fois|du savon noir, une cuillère par litre]\n- [un abri pour "
     "les hérissons|des fleurs pour les syrphes]\n- un arrosage {6}\n"
     "[Les autres années, patience.|Une année sur {#3-6} est mauvaise, et c'est ainsi.] {9} [Voyez aussi les ennuis de "
     "{~}.|Le même remède sert pour {~}.]\n"},
    {"recolte.html", "La récolte {2}", "Quand récolter en {4}, combien, et qu'en faire : {8}.",
     "La récolte {2} commence en {4}[, rarement avant|, selon le printemps|]. [On cueille le matin, après la rosée.|Il "
     "faut deux paniers et une bonne échelle.] [L'an dernier nous avons compté {#6-80} kilos.|Le carnet note {#6-80} "
     "kilos, et une poche d'enfant.]\n"
     "# Qu'en faire\n[Surtout ceci : {8}.|La maison en fait cet usage : {8}.] [Ce qui reste part chez les voisins.|On "
     "en donne à l'école et au facteur.]\n"
     "# Conserver\n[Au frais, à l'ombre, {#4-20} jours.|En bocaux de {#300-750} grammes.] {A} [écrit l'année sur "
     "chaque couvercle|ne jette jamais rien]. {9}\n"},
};

const struct theme theme_plantes = {
    .lang = "fr",
    .folder = "plantes",
    .name = "Les plantes du jardin",
    .about =
        "Douze plantes que l'on cultive ici depuis longtemps : la fiche, la plantation, les maladies et la récolte.\n"
        "Le jardin se visite de mai à octobre, l'après-midi, et l'on peut goûter ce qui est tombé.\n",
    SUBJECTS(plantes),
    ASPECTS(plante_aspects),
    .pools = {"Madame Roussel|le vieux Firmin|Adèle|notre stagiaire|Monsieur Colbert"},
};

/* ---- biblioteca: nombre, siglo, autor, idioma, páginas, sala, origen, observación ---- */

static const struct subject obras[] = {
    {{"atlas-vientos", "el atlas de los vientos", "XVII", "Jacinto Roldán", "latín", "212", "la sala de mapas",
      "un convento de la costa", "Cada viento tiene una cara, y el del norte se parece al obispo de entonces."}},
    {{"cartas-perdidas", "las cartas perdidas", "XIX", "varias manos", "castellano", "9000", "el archivo",
      "un saco olvidado en la oficina de correos", "Nunca llegaron a su destino y muchas siguen sin abrir."}},
    {{"herbario-arriaga", "el herbario Arriaga", "XVIII", "Leonor Arriaga", "castellano y vasco", "340",
      "la sala verde", "una herencia", "Entre las hojas quedan pétalos que aún conservan el color."}},
    {{"tratado-relojes", "el tratado de los relojes", "XVI", "Benito Salcedo", "castellano", "178", "la sala norte",
      "una subasta en Cádiz", "El autor nunca terminó el capítulo sobre la puntualidad."}},
    {{"cancionero-marinero", "el cancionero marinero", "XVIII", "anónimo", "gallego", "96", "la sala de música",
      "la viuda de un contramaestre", "Faltan las páginas más atrevidas, arrancadas con mucho cuidado."}},
    {{"libro-cuentas", "el libro de cuentas del molino", "XVII", "el molinero Tomás", "castellano", "410", "el archivo",
      "el propio molino", "En los márgenes el molinero anotó las tormentas y los nacimientos."}},
    {{"bestiario", "el bestiario de la montaña", "XV", "fray Anselmo", "catalán", "134", "la sala fuerte",
      "un monasterio cerrado", "El dragón está dibujado del natural, según jura el fraile."}},
    {{"diccionario-gestos", "el diccionario de gestos", "XX", "Amparo Quintana", "castellano", "520",
      "la sala de lectura", "una donación de la autora",
      "Explica cuarenta maneras de decir que no sin abrir la boca."}},
    {{"diario-farero", "el diario del farero", "XIX", "Elías Montero", "castellano", "1200", "la sala norte",
      "el faro de la Punta", "Durante once años escribió cada noche la misma frase, menos una."}},
    {{"cuaderno-cocina", "el cuaderno de cocina de sor Inés", "XVIII", "sor Inés", "castellano", "88", "la sala verde",
      "un convento de la capital", "Las medidas se dan en avemarías, que hervían más despacio que ahora."}},
    {{"periodicos-valdeluz", "los periódicos de Valdeluz", "XX", "la imprenta municipal", "castellano", "3100",
      "la hemeroteca", "dos cajas bajo la escalera",
      "La ciudad cambió de nombre y el periódico tardó tres semanas en enterarse."}},
    {{"gramatica-silbo", "la gramática del silbo", "XX", "el maestro Nieves", "castellano", "76", "la sala de música",
      "una escuela de la isla", "Es el único libro de la casa que se consulta en voz alta, o mejor dicho, silbando."}},
};

static const struct aspect obra_aspects[] = {
    {"", "{1}, siglo {2}", "{1}: {4}, {5} páginas, en {6}.",
     "{1} es del siglo {2} y está en {4}. [Su autoría se debe a {3}.|Lo firmó {3}.] Tiene {5} páginas y se guarda en "
     "{6}. {8}\n"
     "[Llegó a la biblioteca desde|Su origen es] {7}. [Se puede consultar con cita previa.|Solo se muestra los {d} por "
     "la tarde.] [Quien lo pide deja el bolígrafo en la entrada.|Hay una copia digital para los impacientes.]\n"
     "# Ficha\n- Siglo: {2}\n- Autoría: {3}\n- Idioma: {4}\n- Páginas: {5}\n- Sala: {6}\n- Procedencia: {7}\n"
     "[Muy cerca se guarda también {~}.|A menudo se pide junto con otra obra: {~}.]\n"},
    {"historia.html", "Historia de la obra: {1}", "Cómo llegó a la biblioteca {1}, desde {7}.",
     "La historia de esta obra, {1}, [empieza en {7}|tiene su principio en {7}]. [En {#1790-1890} alguien la compró "
     "por {#3-60} reales.|Un inventario de {#1800-1899} la da por perdida.] [Pasó de mano en mano|Viajó en un baúl] "
     "hasta que {A} [la reconoció por la encuadernación|la salvó de un incendio|la cambió por dos quesos].\n"
     "{8} [De {3} sabemos poco.|Sobre {3} hay dos biografías, y no coinciden.]\n"
     "# Fechas\n- siglo {2}: se escribe\n- {#1801-1899}: cambia de dueño\n- {#1920-1985}: entra en {6}\n"},
    {"consulta.html", "Consultar la obra: {1}", "Horario, sala y normas para consultar {1}.",
     "Para consultar {1} [hay que pedir cita|basta con llamar antes]. La obra está en {6}, [en la segunda planta|al "
     "fondo del pasillo|detrás de la puerta azul]. [Horario: los {d} de {#9-11} a {#12-14} horas.|Se atiende los {d} "
     "por la mañana.]\n"
     "# Normas\n- [guantes de algodón|manos limpias y secas]\n- [lápiz, nunca tinta|nada de comida, tampoco "
     "caramelos]\n- [fotografías sin flash|dos horas como máximo]\n"
     "[Con {5} páginas conviene traer paciencia.|Se entregan {#10-40} páginas cada vez.] {8} [Pregunte por {A}.|{A} "
     "conoce cada mancha.]\n"},
    {"restauracion.html", "La restauración de una obra: {1}", "Papel, tinta y costuras: qué se hizo con {1}.",
     "[El papel estaba enfermo de humedad.|La tinta comía el papel desde dentro.] La restauración duró {#3-26} meses y "
     "la dirigió {A}. [Primero se contaron las páginas: {5}.|De las {5} páginas, {#4-60} estaban sueltas.]\n"
     "# Trabajo\n- [limpieza en seco|baño de agua y cal]\n- [injertos de papel japonés|costura nueva con hilo de "
     "lino]\n- [una caja a medida|una cubierta de piel]\n"
     "{8} [No se añadió nada que no pueda quitarse.|Lo que falta sigue faltando, y así debe ser.] Otra obra espera su "
     "turno: {~}.\n"},
};

const struct theme theme_biblioteca = {
    .lang = "es",
    .folder = "obras",
    .name = "Obras de la biblioteca",
    .about = "Doce obras de la biblioteca, con su ficha, su historia, las normas de consulta y su restauración.\n"
             "La sala de lectura abre de lunes a sábado. El silencio es gratuito.\n",
    SUBJECTS(obras),
    ASPECTS(obra_aspects),
    .pools = {"doña Mercedes|el bibliotecario Ruiz|Lucía Ferrer|el portero Damián|la profesora Olmo", NULL, NULL,
              "lunes|martes|miércoles|jueves|viernes"},
};

/* ---- freguesia: assunto, artigo de, local, verba em euros, pelouro, mês, pormenor ---- */

static const struct subject assuntos[] = {
    {{"mercado", "o mercado municipal", "do mercado municipal", "no largo da fonte", "48000", "comércio", "março",
      "As peixeiras pediram bancas mais altas e o arquiteto pediu mais tempo."}},
    {{"ponte-velha", "a ponte velha", "da ponte velha", "sobre a ribeira", "125000", "obras", "julho",
      "Só passa um carro de cada vez, e os mais velhos dizem que sempre chegou."}},
    {{"biblioteca", "a biblioteca itinerante", "da biblioteca itinerante", "nas sete aldeias", "9500", "cultura",
      "outubro", "A carrinha leva livros e traz recados, e às vezes ovos."}},
    {{"agua", "a rede de água", "da rede de água", "no bairro alto", "210000", "ambiente", "maio",
      "Perde-se um terço da água antes de chegar à primeira torneira."}},
    {{"festas", "as festas de agosto", "das festas de agosto", "no adro da igreja", "31000", "cultura", "agosto",
      "A banda toca até às duas e o padre finge que não ouve."}},
    {{"escola", "a escola primária", "da escola primária", "na rua das flores", "67000", "educação", "setembro",
      "Este ano há outra vez doze crianças na primeira classe."}},
    {{"lixo", "a recolha do lixo", "da recolha do lixo", "em toda a freguesia", "54000", "ambiente", "janeiro",
      "O camião passa às terças e às sextas, exceto quando não passa."}},
    {{"cemiterio", "o cemitério", "do cemitério", "atrás da capela", "18000", "obras", "novembro",
      "Falta lugar, e ninguém quer falar disso em voz alta."}},
    {{"transportes", "o autocarro da serra", "do autocarro da serra", "entre a vila e a serra", "39000", "transportes",
      "fevereiro", "O condutor espera por quem corre, e por isso chega tarde."}},
    {{"parque", "o parque infantil", "do parque infantil", "junto ao rio", "22000", "juventude", "junho",
      "O baloiço novo foi inaugurado três vezes, por três presidentes."}},
    {{"iluminacao", "a iluminação pública", "da iluminação pública", "na estrada nova", "76000", "obras", "dezembro",
      "Com as lâmpadas novas voltaram a ver-se menos estrelas e mais gatos."}},
    {{"rio", "a praia fluvial", "da praia fluvial", "na curva do rio", "15500", "turismo", "abril",
      "A bandeira azul chegou pelo correio, dobrada e sem instruções."}},
};

static const struct aspect assunto_aspects[] = {
    {"", "{1}: o que a junta decidiu", "{1}: obras, verba de {4} euros e datas.",
     "A junta decidiu sobre {1}, {3}. [A verba é de {4} euros|Estão previstos {4} euros], a cargo do pelouro de {5}. "
     "{7}\n"
     "[Os trabalhos começam em {6}.|Se tudo correr bem, em {6} haverá novidades.] [Quem tiver sugestões pode "
     "entregá-las na secretaria.|As sugestões dos moradores são lidas em reunião.] [{A} acompanha o assunto.|O assunto "
     "está entregue a {A}.]\n"
     "# Resumo\n- Local: {3}\n- Verba: {4} euros\n- Pelouro: {5}\n- Início: {6}\n"
     "[Está relacionado com outro ponto da ordem: {~}.|Na mesma reunião falou-se de outro assunto: {~}.]\n"},
    {"ata.html", "Ata da reunião: {1}", "Ata da reunião da junta sobre {1}: presenças, debate e votação.",
     "[Aos {#1-28} dias do mês de {6} reuniu a junta de freguesia|Reuniu-se a junta em {6}, com a sala cheia]. "
     "[Estiveram presentes {#5-9} membros e {#3-40} moradores.|Faltou um membro, por causa das vindimas.] O ponto era "
     "{1}.\n"
     "# Debate\n{A} [defendeu a verba de {4} euros|achou {4} euros uma exageração|perguntou quem pagaria o resto]. [Um "
     "morador lembrou promessas antigas.|Da plateia ouviu-se um aplauso e uma tosse.] {7}\n"
     "# Votação\n- a favor: {#4-7}\n- contra: {#0-2}\n- abstenções: {#0-2}\n"
     "[A proposta {2} foi aprovada.|Ficou aprovada a proposta {2}, com uma correção.] [A reunião acabou às {#21-23} "
     "horas.|Não havendo mais nada a tratar, apagaram-se as luzes.]\n"},
    {"orcamento.html", "Orçamento {2}", "Como se gastam os {4} euros: materiais, mão de obra e imprevistos.",
     "O orçamento {2} soma {4} euros. [Metade vem da câmara, o resto da freguesia.|A câmara paga {#40-80} por cento.] "
     "[As contas estão abertas a todos.|Qualquer morador pode ver as faturas.]\n"
     "# Despesas\n- materiais: {#20-45} por cento\n- mão de obra: {#25-45} por cento\n- projeto: {#5-12} por cento\n- "
     "imprevistos: o que sobrar\n"
     "{A} [explica as contas às quintas-feiras|assina cada folha|guarda os recibos numa caixa de bolachas]. {7} [No "
     "ano passado gastou-se menos.|Compare com outro orçamento: {~}.]\n"},
    {"perguntas.html", "Perguntas sobre {1}", "As perguntas mais ouvidas dos moradores sobre {1}.",
     "# Quando começa?\n[Em {6}, se não chover.|O plano diz {6}; a experiência diz mais um mês.]\n"
     "# Quem paga?\n[O pelouro de {5}, com {4} euros.|Todos nós: {4} euros.]\n"
     "# Onde é, ao certo?\n[Fica|É] {3}. [Há um painel com a planta.|Pergunte no café, que todos sabem.]\n"
     "# A quem me queixo?\n[A {A}, de manhã.|Na secretaria, por escrito, com calma.] {7}\n"
     "[As respostas foram revistas em {%}.|Faltam perguntas? Traga-as à próxima reunião.]\n"},
};

const struct theme theme_freguesia = {
    .lang = "pt",
    .folder = "assuntos",
    .name = "Assuntos da freguesia",
    .about =
        "Doze assuntos de que a junta trata este ano: a decisão, a ata, o orçamento e as perguntas dos moradores.\n"
        "A secretaria está aberta nos dias úteis, de manhã; à tarde estamos na rua, a ver as obras.\n",
    SUBJECTS(assuntos),
    ASPECTS(assunto_aspects),
    .pools = {"a vogal Conceição Prata|o presidente Amílcar Nunes|o tesoureiro Jorge|a engenheira Beatriz Lima|o "
              "senhor Valdemar"},
};
