/* text_code.c - the documentation of a small programming language that there is not, its glossary, and a blog about
 * old radios. */
#include "sample/texts.h"

/* ---- skein: name, type, function, other function, camel-case helper, error, purpose, cost, remark ---- */

static const struct subject modules[] = {
    {{"ring_buffer", "ring buffer", "RingBuffer", "ring_buffer_push", "ring_buffer_pop", "wrapIndex", "E_RING_FULL",
      "passes items between two threads without a lock", "O(1)",
      "The capacity is a power of two, so that the index wraps with a mask instead of a division."}},
    {{"http_header", "HTTP header parser", "HeaderList", "parseHeader", "header_list_find", "foldHeaderName",
      "E_HEADER_TOO_LONG", "splits the head of a request into names and values", "O(n)",
      "Names compare without case; values keep the bytes that came over the wire."}},
    {{"hash_map", "hash map", "HashMap", "hash_map_put", "hash_map_get", "probeDistance", "E_MAP_FROZEN",
      "keeps values by key with open addressing", "O(1) in the mean",
      "The key of the hash is drawn at start, so nobody outside can choose colliding keys."}},
    {{"string_builder", "string builder", "StringBuilder", "string_builder_append", "string_builder_take",
      "growCapacity", "E_STRING_LIMIT", "puts a text together piece by piece", "O(1) a byte, amortised",
      "It doubles its room and never shrinks; take gives the text away and leaves the builder empty."}},
    {{"task_queue", "task queue", "TaskQueue", "task_queue_submit", "task_queue_drain", "stealTask", "E_QUEUE_CLOSED",
      "runs small jobs on a fixed number of workers", "O(log n)",
      "A worker without work steals from the tail of another one's queue."}},
    {{"file_reader", "file reader", "FileReader", "file_reader_open", "file_reader_next_line", "mapWindow",
      "E_FILE_SHRANK", "reads large files line by line through a window", "O(n)",
      "A file that shrinks while it is read is an error, not a crash."}},
    {{"json_writer", "JSON writer", "JsonWriter", "json_writer_begin", "json_writer_end", "escapeControl",
      "E_JSON_NESTING", "writes JSON without building a tree", "O(n)",
      "Commas are its own business; the caller names fields and gives values."}},
    {{"regex_match", "regular expressions", "Regex", "regex_compile", "regex_match", "stepLimit", "E_REGEX_STEPS",
      "matches patterns with a bound on the number of steps", "O(n) up to the bound",
      "A pattern that would run for ever is stopped and says so."}},
    {{"tcp_listener", "TCP listener", "TcpListener", "tcp_listener_bind", "tcp_listener_accept", "peerAddress",
      "E_PORT_TAKEN", "waits for connections", "O(1)",
      "Port 0 asks the system for a free one, which is what tests should do."}},
    {{"timer_wheel", "timer wheel", "TimerWheel", "timer_wheel_add", "timer_wheel_tick", "slotOf", "E_TIMER_PAST",
      "keeps many timeouts at little cost", "O(1)",
      "Four wheels of 256 slots cover seven weeks in steps of a millisecond."}},
    {{"bloom_filter", "Bloom filter", "BloomFilter", "bloom_filter_add", "bloom_filter_may_have", "bitsPerKey",
      "E_FILTER_FULL", "tells quickly that a key was never seen", "O(k)",
      "It may err in one direction only: never seen is certain, seen is a guess."}},
    {{"arena_alloc", "arena", "Arena", "arena_alloc", "arena_reset", "alignUp", "E_ARENA_LIMIT",
      "hands out memory that is given back all at once", "O(1)",
      "Nothing is freed on its own; the arena dies with the request it was made for."}},
    {{"utf8_decode", "UTF-8 decoder", "Utf8Iter", "utf8_decode", "utf8_valid", "nextScalar", "E_UTF8_CUT",
      "walks over text code point by code point", "O(n)",
      "A broken byte becomes one replacement character, and the walk goes on behind it."}},
    {{"lru_cache", "LRU cache", "LruCache", "lru_cache_get", "lru_cache_put", "evictOldest", "E_CACHE_PINNED",
      "keeps what was used last", "O(1)", "Entries in use are pinned and survive, even past the limit."}},
    {{"priority_heap", "priority heap", "PriorityHeap", "priority_heap_push", "priority_heap_pop", "siftDown",
      "E_HEAP_EMPTY", "gives back the smallest item first", "O(log n)",
      "Equal items come out in the order they went in, because each carries a number."}},
    {{"log_sink", "log sink", "LogSink", "log_sink_open", "log_sink_rotate", "limitRepeats", "E_LOG_DISK",
      "writes log lines without slowing their authors down", "O(1)",
      "The hundredth line of the same kind is counted, not written."}},
};

static const struct aspect module_aspects[] = {
    {"", "{1} (`{2}`)", "The {1} of Skein: type {2}, with {3} and {4}.",
     "`{2}` {7}. [Import it with `use {0}`.|It lives in the module `{0}`.] {9}\n"
     "The two functions you need are `{3}` and `{4}`; [`{5}` is there for those who extend the type|most programs "
     "never call `{5}` themselves|`{5}` is its only public helper]. [All of them cost {8}.|Each call costs {8}.]\n"
     "# When to use it\n"
     "[Use it when the number of items is known.|It is the right choice when memory must not grow.|Reach for it before "
     "you write your own.] [For other cases look at {~}.|If you need order as well, see {~}.]\n"
     "# Since\nVersion 0.{#2-9}, [unchanged since 1.0|stable|with the signature of 1.{#0-4}].\n"},
    {"reference.html", "`{3}` and `{4}`: reference of the {1}",
     "Signatures, arguments, results and errors of {3} and {4}.",
     "# `{3}`\n"
     "    fn {3}(self: &{2}, item: Item) -> Result<Count, Error>\n"
     "[Gives|Hands] its argument to the {1}. [Returns how many items there are now.|The count it returns includes the "
     "new item.] Fails with `{6}` [when there is no room|when the limit is reached|in the case that the name says].\n"
     "# `{4}`\n"
     "    fn {4}(self: &{2}) -> Option<Item>\n"
     "[Never blocks.|Blocks only when it was opened with `wait: true`.] [Gives `none` when there is nothing.|An empty "
     "result is `none`, not an error.] Cost: {8}.\n"
     "# `{5}`\n"
     "    fn {5}(n: u64) -> u64\n"
     "[A helper for tests and for those who build on `{2}`.|Pure; any thread may call it.] {9}\n"
     "# Thread safety\n"
     "[One writer and one reader may use it at once.|Not locked: one thread at a time.|Locks for itself.]\n"},
    {"example.html", "Example: using the {1} in Skein", "A complete program that uses {2}, {3} and {4}.",
     "[This program|The program below] {7}[, and prints what it did|, nothing more|]. [Save it as `{0}_demo.sk` and "
     "run `skein run {0}_demo.sk`.|It is in the folder `examples/{0}` of the source.]\n"
     "    use {0}\n"
     "    fn main() {\n"
     "        let it = {2}.new(capacity: 64)\n"
     "        for word in read_words(\"input.txt\") {\n"
     "            match {3}(it, word) {\n"
     "                ok(n) => print(\"{1} holds\", n)\n"
     "                err({6}) => break\n"
     "            }\n"
     "        }\n"
     "        print({4}(it))\n"
     "    }\n"
     "[The loop ends at the first `{6}`.|Note how `{6}` ends the loop without an exception.] {9} [Replace 64 by your "
     "own number.|Try it with a capacity of {#2-8} to see the error.]\n"},
    {"errors.html", "`{6}`: what the error means", "Why {3} fails with {6}, and what to do.",
     "`{6}` comes from `{3}` [and from nowhere else|, sometimes from `{4}`|]. [It is not a bug in your program by "
     "itself.|It is a normal answer and wants to be handled.] {9}\n"
     "# Causes\n- [The limit given to `{2}.new` was reached|The capacity was chosen too small]\n- [The other side is "
     "slower than you think|Nobody calls `{4}`]\n- [Rarely: the input was damaged|Rarely: two threads without a plan]\n"
     "# What to do\n"
     "[Wait and try again with a pause that doubles.|Drop the item and count the loss.|Raise the limit after "
     "measuring, not before.] [The error carries the count at which it happened.|`err.detail` has the number of the "
     "item.]\n"
     "See also the errors of {~}.\n"},
    {"performance.html", "How fast is the {1}?", "Measured cost of {3} and {4}, and how to measure it yourself.",
     "In theory `{3}` costs {8}. [Measured on an old laptop:|On one core of a small server:] {#4-90} ns a call, "
     "{#10-99} million calls in {#1-9} seconds. [The cache is what limits it.|Most of the time goes into `{5}`.|A "
     "branch that is never predicted well costs a third of it.]\n"
     "# Measure it\n"
     "    skein bench {0} --rounds 5 --pin 0\n"
     "[Take the best of five rounds.|Look at the spread before you look at the mean.] [Do not trust the first "
     "round.|Close the browser.]\n"
     "# What was tried\n"
     "[Prefetching: no gain.|Padding to 64 bytes: {#3-14} % faster.|A second copy of the index: {#5-20} % faster.] {9} "
     "[The {~} behaves alike.|Compare the numbers of {~}.]\n"},
};

const struct theme theme_skein = {
    .lang = "en",
    .folder = "std",
    .name = "Standard library of Skein",
    .about =
        "Sixteen modules. Every one has a reference, an example, a page about its errors and one about its speed.\n"
        "Names of types are written `LikeThis`, names of functions `like_this` and helpers `likeThis`, because three "
        "people wrote the library and none gave in.\n",
    SUBJECTS(modules),
    ASPECTS(module_aspects),
};

/* ---- glossary: term, meaning, example, not to be confused with ---- */

static const struct subject terms[] = {
    {{"backpressure", "backpressure", "the way a slow consumer makes a fast producer wait",
      "a full queue that refuses the next item", "throttling, which is decided beforehand"}},
    {{"idempotent", "idempotent", "said of an operation that may be repeated without changing more than the first time",
      "setting a lamp to on", "pure, which changes nothing at all"}},
    {{"tombstone", "tombstone", "a mark that says that something was deleted", "a row with a deletion date",
      "a hole, which says nothing"}},
    {{"monotonic-clock", "monotonic clock", "a clock that never goes back, whatever the date is set to",
      "the time since the machine was started", "the wall clock, which people set"}},
    {{"checksum", "checksum", "a small number computed from many bytes, to notice damage",
      "the last digit of a library card", "a signature, which also keeps liars out"}},
    {{"canonical-url", "canonical URL", "the one address among several that a page wants to be known by",
      "the article without its tracking parameters", "a redirect, which moves you"}},
    {{"near-duplicate", "near-duplicate", "a page that says the same as another one but for a date or a heading",
      "the print version of an article", "a mirror, which is the same byte for byte"}},
    {{"crawl-delay", "crawl delay", "the pause that a site asks robots to make between two requests",
      "one line in robots.txt", "a timeout, after which one gives up"}},
    {{"snippet", "snippet", "the few lines under a search result that show where the words were found",
      "two sentences with the query in bold", "an abstract, which somebody wrote"}},
    {{"stemming", "stemming", "cutting words to their root, so that baker and baking meet", "running becomes run",
      "translation, which it is not"}},
    {{"inverted-index", "inverted index", "a list of words that names for each the pages it stands on",
      "the last pages of any textbook", "a table of contents, which goes the other way"}},
    {{"back-off", "exponential back-off", "waiting twice as long after every failure", "one second, two, four, eight",
      "giving up, which comes last"}},
};

static const struct aspect term_aspects[] = {
    {"", "[What is meant by|What does it mean:] {1}?", "{1}: {2}.",
     "{1}: {2}. [An example is|For example:] {3}. [Not to be confused with|It is something else than] {4}.\n"
     "[The word came into the Skein documentation in version 0.{#2-9}.|We use the word in this sense throughout the "
     "library.] [Older texts say it differently.|Other books are less strict.] [See also {~}.|Related: {~}, {~}.]\n"
     "# In a sentence\n[\"Without {1} the service would have fallen over on {%}.\"|\"We only understood {1} when it "
     "was missing.\"|\"Ask three programmers about {1} and you get four answers.\"]\n"},
};

const struct theme theme_glossary = {
    .lang = "en",
    .folder = "glossary",
    .name = "Glossary",
    .about = "Twelve words that programmers use as if everybody knew them, each with a meaning, an example, and the "
             "word it is usually mixed up with.\nProposals for a thirteenth are welcome; superstition holds us back.\n",
    SUBJECTS(terms),
    ASPECTS(term_aspects),
};

/* ---- radios: name, maker, year, valves, wave bands, usual fault, part, voltage, remark ---- */

static const struct subject radios[] = {
    {{"heron-5", "Heron 5", "Brackwell & Sons", "1936", "five valves", "long and medium wave",
      "hum that grows as it warms up", "the smoothing capacitor", "250",
      "The dial names eleven cities, four of which have other names now."}},
    {{"corona-baby", "Corona Baby", "Corona Wireless", "1948", "four valves", "medium wave",
      "silence after ten minutes", "the output transformer", "90",
      "It was sold in six colours and every surviving one is brown."}},
    {{"seafarer", "Seafarer M", "Dunning Marine", "1952", "seven valves", "marine and short wave",
      "crackle when touched", "the wave-change switch", "180",
      "The case is teak, the knobs are brass, and the salt is everywhere."}},
    {{"parlour-grand", "Parlour Grand", "Ellery & Co", "1934", "eight valves", "three wave bands",
      "distortion at low volume", "the coupling capacitors", "320",
      "It needs two to carry and a third to hold the door."}},
    {{"sprite", "Sprite portable", "Brackwell & Sons", "1955", "four battery valves", "medium wave",
      "weak stations only at night", "the frame aerial", "90",
      "The battery has not been made since 1979; we build one from ten small ones."}},
    {{"telstar-seven", "Telstar Seven", "Orbit Electric", "1963", "seven transistors", "medium and short wave",
      "motorboating", "the electrolytic on the supply line", "9", "Seven transistors, says the badge; we found six."}},
    {{"kitchen-maid", "Kitchen Maid", "Corona Wireless", "1950", "five valves", "long and medium wave",
      "a smell of hot wax", "the mains dropper", "230",
      "The chassis is live when the plug is the wrong way round, and nobody marked the plug."}},
    {{"ambassador", "Ambassador FM", "Ellery & Co", "1958", "nine valves", "VHF and medium wave", "drift on VHF",
      "the discriminator coil", "260", "The magic eye still winks, faintly, in the dark."}},
    {{"field-set-18", "Field Set 18", "government workshops", "1941", "six valves", "short wave", "dead on one band",
      "a corroded trimmer", "150", "Someone scratched a chess position into the lid; white wins in two."}},
    {{"schoolmaster", "Schoolmaster", "Dunning Marine", "1947", "six valves", "medium wave", "loudspeaker rattle",
      "the speech coil", "240", "Every school in the county had one, screwed to the wall out of reach."}},
    {{"night-owl", "Night Owl clock radio", "Orbit Electric", "1961", "five valves", "medium wave",
      "the clock stops, the radio plays", "the motor bearing", "240",
      "It woke our correspondent for thirty-one years and then wanted oil."}},
    {{"crystal-king", "Crystal King", "a kit from a magazine", "1925", "none", "medium wave", "no sound at all",
      "the cat's whisker", "0", "There is nothing in it that can fail, and it fails every winter."}},
    {{"tourist-deluxe", "Tourist de Luxe", "Orbit Electric", "1966", "nine transistors", "four wave bands",
      "scratchy volume control", "the potentiometer track", "9", "It has a map of the time zones under the handle."}},
    {{"workshop-monitor", "Workshop Monitor", "built on our bench", "1998", "six valves", "all we could fit",
      "whatever we changed last", "everything", "200", "It is the radio with which we repair the others."}},
};

static const struct aspect radio_aspects[] = {
    {"", "{2} {1} ({3})", "The {1} by {2}, {3}: {4}, {5}; usual fault: {6}.",
     "The {1} was made by {2} from {3} on. It has {4} and receives {5}. {9}\n"
     "[They come to our bench with|Nearly every one of them has] {6}. [Look first at {7}.|The culprit is {7}, four "
     "times out of five.] [Spare parts are scarce but not hopeless.|We keep {#2-9} of them for parts.]\n"
     "# Data\n- Maker: {2}\n- Year: {3}\n- Fitted with: {4}\n- Bands: {5}\n- Supply: {8} V\n"
     "[A cousin of the {~}.|It shares its chassis with the {~}.|Better sound than the {~}, worse looks.]\n"},
    {"repair.html", "Repairing the {1}: {6}", "How we cured {6} in a {1} of {3}, step by step.",
     "[A {1} came in on {%} with {6}.|This one stood in an attic for {#10-40} years and had {6}.] [Do not plug it "
     "in.|Before anything else: look, smell, and leave the plug alone.] [Bring it up slowly, with a lamp in series.|We "
     "raise the voltage over an hour.]\n"
     "# Diagnosis\n"
     "[At the test point there should be {8} V; we had {#3-60} less.|The meter said {8} V where it should, and nothing "
     "behind it.] [A finger on the grid gave no buzz.|The signal went in and did not come out.] That leaves {7}.\n"
     "# The cure\n"
     "[We replaced {7} with a new part of the same value.|{7} was cleaned, tightened and given one more chance.] "
     "[Solder quickly; the old wires are tinned copper and proud of it.|Hide the new part in the old can, if you care "
     "for looks.] {9}\n"
     "[Time: {#1-6} hours. Parts: {#2-30} pounds.|It plays. The owner cried a little; {A} pretended not to see.]\n"},
    {"circuit.html", "The circuit of the {1} explained", "From aerial to loudspeaker: how the {1} with {4} works.",
     "[The {1} is a superhet|Nothing unusual: the {1} is built] with {4}, for {5}. [The aerial coil feeds the mixer.|A "
     "tuned circuit picks the station, and an oscillator shifts it.] [The intermediate frequency is {#440-475} "
     "kHz.|Two transformers at {#440-475} kHz do the selecting.]\n"
     "# Detector and sound\n"
     "[A diode takes the sound off the carrier.|The detector also makes the voltage for the volume control that nobody "
     "touches.] [From there it is two steps to the loudspeaker.|The last stage draws most of the current.]\n"
     "# Supply\n{8} V[, more or less|, and it bites|]. The weak point is {7}: [it sits next to the heat|it carries all "
     "of it|it was cheap in {3} already]. {9}\n"},
    {"listening.html", "A night of listening on the {1}", "What a {1} of {3} still receives: stations, noise, weather.",
     "[With {#8-30} metres of wire out of the window|With nothing but its own aerial], the {1} brought in [{#9-40} "
     "stations|more than we could name] on {5}. [Best after midnight.|The hour before dawn is the best.] [Lamps with "
     "switched supplies drown half of it.|Every charger in the street has a frequency of its own.]\n"
     "# Heard\n- [A harbour forecast|A brass band]\n- [A talk about bees|Morse, slow and by hand]\n- [Numbers, read by "
     "a child|Football in a language {A} almost knew]\n"
     "{9} [The fault came back at two: {6}.|Not a trace of {6}, since we saw to it.]\n"},
};

const struct theme theme_radio = {
    .lang = "en",
    .folder = "sets",
    .name = "Radios on the bench",
    .about = "Fourteen radio sets that we have repaired more than once. Each has its data, a repair, its circuit and a "
             "night of listening.\nThe voltages in old sets kill. If you are not sure, bring it to the bench.\n",
    SUBJECTS(radios),
    ASPECTS(radio_aspects),
    .pools = {"Gwen|Mr Patel|my apprentice|Colin|the widow from number nine"},
};
