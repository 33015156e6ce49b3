/* text_sky.c - an observatory: the sky in Russian, its instruments in English. */
#include "sample/texts.h"

/* ---- небо: название, родительный падеж, созвездие, расстояние, месяц, чем смотреть, открыт кем, год, замечание ----
 */

static const struct subject objects[] = {
    {{"luna", "Луна", "Луны", "в любом зодиакальном созвездии", "384 тысячи километров", "круглый год", "бинокль",
      "известна всегда", "1610", "Горы лучше всего видны у границы света и тени."}},
    {{"saturn", "Сатурн", "Сатурна", "в Водолее", "1,4 миллиарда километров", "сентябрь", "небольшой телескоп",
      "известен с древности", "1655", "Раз в пятнадцать лет кольца поворачиваются ребром и исчезают."}},
    {{"andromeda", "туманность Андромеды", "туманности Андромеды", "в Андромеде",
      "два с половиной миллиона световых лет", "октябрь", "невооружённый глаз", "ас-Суфи", "964",
      "Это самая далёкая вещь, которую можно увидеть без приборов."}},
    {{"pleyady", "Плеяды", "Плеяд", "в Тельце", "440 световых лет", "декабрь", "бинокль", "известны с древности",
      "1767", "Зоркий человек видит семь звёзд, очень зоркий — одиннадцать."}},
    {{"kometa-galleya", "комета Галлея", "кометы Галлея", "там, где её не ждут", "от Солнца до орбиты Нептуна", "июль",
      "терпение", "Эдмунд Галлей", "1705", "В следующий раз она вернётся в 2061 году."}},
    {{"mars", "Марс", "Марса", "в Близнецах", "от 56 до 400 миллионов километров", "январь", "телескоп",
      "известен с древности", "1659", "В дни противостояния у купола стоит очередь до самых ворот."}},
    {{"albireo", "Альбирео", "Альбирео", "в Лебеде", "430 световых лет", "август", "небольшой телескоп",
      "Джеймс Брадлей", "1753", "Одна звезда золотая, другая голубая, и дети спорят, какая красивее."}},
    {{"oriona", "туманность Ориона", "туманности Ориона", "в Орионе", "1340 световых лет", "февраль", "бинокль",
      "Никола де Пейреск", "1610", "Там прямо сейчас рождаются звёзды, и это видно в школьную трубу."}},
    {{"yupiter", "Юпитер", "Юпитера", "в Тельце", "780 миллионов километров", "ноябрь", "бинокль",
      "известен с древности", "1610", "Четыре спутника каждую ночь стоят в новом порядке."}},
    {{"serebristye-oblaka", "серебристые облака", "серебристых облаков", "низко на севере", "82 километра", "июнь",
      "невооружённый глаз", "Витольд Цераский", "1885",
      "Они светятся после полуночи, когда остальные облака уже тёмные."}},
};

static const struct aspect object_aspects[] = {
    {"", "{1}: что, где и когда", "{1}: где искать, когда смотреть и чем.",
     "{1} [видна или виден|можно найти] {3}. Расстояние: {4}. [Лучшее время — {5}.|Смотреть удобнее всего, когда на "
     "дворе {5}.] [Понадобится|Нужен прибор:] {6}. {9}\n"
     "[Первооткрыватель:|Кто открыл:] {7}; [первые записи относятся к {8} году|важный для истории год — {8}]. [Наш "
     "дежурный {A} показывает это каждому гостю.|В нашем журнале об этом {#20-300} записей.]\n"
     "# Коротко\n- Где: {3}\n- Расстояние: {4}\n- Когда: {5}\n- Прибор: {6}\n"
     "[Рядом в программе вечера: {~}.|В ту же ночь видно и другое: {~}.]\n"},
    {"nablyudenie.html", "Наблюдение {2}", "Как мы наблюдали: ночь, прибор, погода. Объект: {1}.",
     "[Ночь была ясная, мороз {#5-27} градусов.|Облака разошлись только к {#1-3} часам.] Наблюдение {2} начали в "
     "{#19-23} часа, дежурил {A}. [Купол открывался со скрипом.|Купол примёрз, и его отбивали топором.]\n"
     "# Запись в журнале\n- прибор: {6}\n- видимость: {#2-9} из 10\n- продолжительность: {#20-190} минут\n"
     "{9} [Чай выпили весь.|Школьники не хотели уходить.] [Следующее наблюдение — {5}.|Повторим, когда придёт {5}.]\n"},
    {"istoriya.html", "История открытия: {1}", "Кто и когда открыл: {1}. От древних до {8} года.",
     "История {2} [длинная|начинается задолго до телескопов]. Автор открытия: {7}. [В {8} году было сделано важное "
     "наблюдение.|Решающим стал {8} год.] [Тогда спорили, далеко ли это.|Никто не поверил сразу.]\n"
     "Сегодня мы знаем расстояние: {4}. {9} [В нашей библиотеке есть книга {#1850-1930} года с рисунком.|На стене "
     "висит снимок, сделанный в {#1935-1975} году.] {A} [рассказывает об этом на лекциях|пишет об этом статью].\n"},
    {"sovety.html", "Советы наблюдателю: {1}", "Как увидеть: {1}. Чем смотреть и чего не делать.",
     "[Дайте глазам привыкнуть к темноте {#15-30} минут.|Выключите телефон: он слепит сильнее Луны.] [Вам хватит "
     "такого прибора:|Прибор:] {6}.\n"
     "# Шаг за шагом\n- найдите место {3}\n- [двигайтесь медленно|не дышите на окуляр]\n- [зарисуйте "
     "увиденное|запишите время]\n"
     "[Не ждите красок с фотографий.|То, что вы видите, — настоящее, это важнее красок.] {9} [Лучший месяц: "
     "{5}.|Приходите в обсерваторию, когда настанет {5}.] [Потом попробуйте и это: {~}.|Легче начать с другого: "
     "{~}.]\n"},
};

const struct theme theme_nebo = {
    .lang = "ru",
    .folder = "nebo",
    .name = "Что видно на небе",
    .about = "Десять небесных объектов, которые обсерватория показывает гостям: описание, запись наблюдения, история "
             "открытия и советы.\nВечера под куполом бывают по пятницам, если нет облаков.\n",
    SUBJECTS(objects),
    ASPECTS(object_aspects),
    .pools = {"Лев Сергеевич|Тимур|Григорий|Павел Ильич"},
};

/* ---- instruments: name, aperture or size, year, maker, purpose, nights a year, remark ---- */

static const struct subject instruments[] = {
    {{"great-refractor", "Great Refractor", "a lens of 38 centimetres", "1891", "the workshops at Jena",
      "double stars and visitors", "90", "Its tube is riveted like a ship, because shipwrights built it."}},
    {{"meridian-circle", "meridian circle", "a circle of 95 centimetres", "1874", "Repsold", "the positions of stars",
      "12", "The town set its clocks by it until 1931, with a flag on the roof."}},
    {{"solar-telescope", "solar telescope", "a mirror of 20 centimetres", "1956", "our own mechanics", "sunspots",
      "140", "It is the only instrument here that sleeps at night."}},
    {{"zeiss-astrograph", "wide-field astrograph", "a lens of 40 centimetres", "1908", "a maker in Dresden",
      "photographic plates", "4", "The eleven thousand plates in the cellar weigh more than the dome."}},
    {{"radio-dish", "radio dish", "eight metres of wire mesh", "1967", "students, in one summer",
      "hydrogen in the Milky Way", "300", "Jackdaws nest in the feed horn, and the data show it."}},
    {{"seismometer", "seismometer", "a mass of 300 kilograms", "1912", "the founder's brother", "earthquakes", "365",
      "It writes down the coal train every evening at six."}},
    {{"weather-mast", "weather mast", "eighteen metres", "1938", "the navy", "wind, frost and dew", "365",
      "The wind vane has been struck by lightning twice and points where it likes."}},
    {{"robot-telescope", "robotic telescope", "a mirror of 60 centimetres", "2014", "two doctoral students",
      "minor planets", "210", "It decides for itself whether to open, and apologises by mail when it was wrong."}},
    {{"planetarium", "pocket planetarium", "a dome of six metres", "1979", "the school council", "rainy evenings", "60",
      "The projector is called Auntie and needs a cup of tea's time to warm up."}},
    {{"clock-room", "clock room", "three pendulum clocks", "1880", "Riefler", "the time", "365",
      "The clocks stand on a pillar that does not touch the house."}},
};

static const struct aspect instrument_aspects[] = {
    {"", "The {1} of the observatory", "The {1}: {2}, built in {3} by {4}, used for {5}.",
     "The {1} has {2}. It was built in {3} by {4} and serves for {5}, [about {6} nights or days a year|{6} times in a "
     "good year]. {7}\n"
     "[Guided tours pass it on Fridays.|You may look through it when the sky is clear and the queue is short.] [Ask "
     "{A} to tell you about the winter of {#1940-1987}.|{A} has looked after it since {#1988-2015}.] [In the same dome "
     "stands the {~}.|The path leads on to the {~}.]\n"
     "# Data\n- Size: {2}\n- Year: {3}\n- Maker: {4}\n- Used for: {5}\n"},
    {"observing.html", "Observing with the {1}: {5}", "How a night, or a day, with the {1} goes.",
     "[Two hours before use the shutters of the dome are opened, so that the air inside cools.|First the log book, "
     "then the switch.] With {2}, the {1} [sees what it was made for: {5}|is still good at {5}]. [The observer sits in "
     "a coat.|Nobody observes alone.]\n"
     "# Procedure\n- [check the clock against the clock room|note temperature and pressure]\n- [choose a field near "
     "the zenith|point it, and wait until it stops trembling]\n- [write down everything, nothing later|repeat {#3-9} "
     "times]\n"
     "{7} [Results go to an archive that anybody may read.|Last year gave {#20-900} measurements.]\n"},
    {"maintenance.html", "Looking after the {1}", "Oil, dust and mirrors: maintenance of the {1} since {3}.",
     "[A thing of {3} needs a thing of {3} now and then.|What {4} built lasts, but not by itself.] [The bearings get "
     "two drops of oil a month.|Dust is blown off, never wiped.] {7}\n"
     "# Calendar\n- spring: [leaves out of the dome rail|test of the drive]\n- summer: [paint|wasps]\n- autumn: [new "
     "desiccant|the great cleaning]\n- winter: [ice off the shutter|nothing, with gloves]\n"
     "{A} [keeps the spare parts in biscuit tins|once repaired it with a bicycle chain]. [Cost last year: {#80-2400} "
     "euros.|The friends of the observatory paid for it.]\n"},
};

const struct theme theme_instruments = {
    .lang = "en",
    .folder = "instruments",
    .name = "Instruments of the observatory",
    .about = "Ten instruments, from the clock room of 1880 to the robotic telescope, with how they are used and looked "
             "after.\n"
             "The dome is cold at all seasons; bring a coat.\n",
    SUBJECTS(instruments),
    ASPECTS(instrument_aspects),
    .pools = {"Vera Lindqvist|the night assistant|Mister Okoro|Anatol"},
};
