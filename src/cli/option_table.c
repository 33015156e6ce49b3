#include "cli/options.h"

#define CRAWLS (CMD_CRAWL | CMD_CONFIG)
#define SERVES (CMD_SERVE | CMD_COORDINATOR | CMD_CONFIG)
#define COORDINATES (CMD_COORDINATOR | CMD_CONFIG)
#define DELEGATES (CMD_SIM | COORDINATES)
#define RETAINS (CMD_PRUNE | COORDINATES)
#define ASKS (CMD_AGENT | CMD_CHANNEL | CMD_NETWORK | CMD_NEAREST | CMD_PROGRAM)
#define FOLDER                                                                                              \
    (CMD_CRAWL | CMD_IMPORT | CMD_EXPORT | CMD_STATUS | CMD_EXPLAIN | CMD_CONFIG | CMD_SEARCH | CMD_SERVE | \
     CMD_CHECK | CMD_COORDINATOR | CMD_HIERARCHY | CMD_FORGET | CMD_PRUNE | CMD_BACKUP | ASKS)

/* Defaults and limits are those of docs/architecture.md; the engine has them again as its own zero values. */
const struct opt_def option_table[OPT_COUNT] = {
    [OPT_HELP] = {"help", TYPE_FLAG, .commands = CMD_ALL, .help = "show this help and exit"},
    [OPT_CONFIG] = {"config", TYPE_TEXT, "FILE", .commands = CMD_ALL & ~CMD_LAB,
                    .help = "read settings from FILE instead of ORB_CONFIG or ~/.config/orb/orb.conf"},
    [OPT_DATA] = {"data", TYPE_TEXT, "DIR", "orb-data", .commands = FOLDER | CMD_DEMO, .is_setting = true,
                  .help = "data folder; crawl, coordinator: made when missing; demo: new or empty, and kept; not "
                          "given: a temporary one, which is removed"},

    [OPT_PAGES] = {"pages", TYPE_INT, "N", "0", 0, INT64_C(1000000000000), .commands = CRAWLS, .is_setting = true,
                   .help = "stop when the folder holds N good pages, all runs together; 0 = no limit"},
    [OPT_DEPTH] = {"depth", TYPE_INT, "N", "64", 0, 1000, .commands = CRAWLS | CMD_CHANNEL | CMD_IMPORT,
                   .is_setting = true, .verbs = "channel add edit import",
                   .help = "follow links up to N steps away from a start page"},
    [OPT_SCOPE] = {"scope", TYPE_CHOICE, "site|domain|prefix", "site", .commands = CRAWLS | CMD_CHANNEL | CMD_IMPORT,
                   .is_setting = true, .verbs = "channel add edit import",
                   .help = "what belongs to the crawl: the host and port of a start page, its whole registered domain, "
                           "or its folder"},
    [OPT_INCLUDE] = {"include", TYPE_LIST, "PATTERN", .commands = CRAWLS | CMD_CHANNEL | CMD_IMPORT, .is_setting = true,
                     .verbs = "channel add edit import",
                     .help = "crawl only URLs that match; a glob over the whole URL, or re:REGEX; may be repeated"},
    [OPT_EXCLUDE] = {"exclude", TYPE_LIST, "PATTERN", .commands = CRAWLS | CMD_CHANNEL | CMD_IMPORT, .is_setting = true,
                     .verbs = "channel add edit import", .help = "never crawl URLs that match; may be repeated"},
    [OPT_SEEDS] = {"seeds", TYPE_TEXT, "FILE", .commands = CMD_CRAWL | CMD_IMPORT,
                   .help = "start pages from FILE, one a line, # starts a comment; - is standard input"},

    [OPT_SITEMAP] = {"sitemap", TYPE_LIST, "URL", .commands = CMD_CRAWL | CMD_CHANNEL,
                     .verbs = "channel add edit import",
                     .help = "a sitemap or a feed, wherever it is: what it lists is crawled too, as far as it is in "
                             "scope; crawl: without start pages what it lists on its own site; may be repeated"},
    [OPT_SITEMAPS] = {"sitemaps", TYPE_FLAG, .value = "yes", .commands = CRAWLS, .is_setting = true,
                      .help = "follow the sitemaps that robots.txt and pages name, and the feeds of pages"},

    [OPT_DELAY] =
        {"delay", TYPE_DURATION, "MS", "1000", 0, 86400000, 1, CRAWLS, true,
         .help = "pause between two requests to a host, longer where the host is slow; on public addresses under 250 "
                 "only for --own-site hosts"},
    [OPT_PER_HOST] = {"per-host", TYPE_INT, "N", "0", 0, 256, .commands = CRAWLS, .is_setting = true,
                      .help = "requests in flight to one host; 0 = 1, or 16 with --delay 0 on loopback and private "
                              "addresses; on public addresses over 2 only for --own-site hosts"},
    [OPT_JOBS] = {"jobs", TYPE_INT, "N", "0", 0, 10000, .commands = CRAWLS, .is_setting = true,
                  .help = "requests in flight in all; 0 = 64 a core"},
    [OPT_SHARDS] = {"shards", TYPE_INT, "N", "0", 0, 256, .commands = CRAWLS, .is_setting = true,
                    .help = "crawling threads; 0 = one a core"},
    [OPT_RATE] = {"rate", TYPE_SIZE, "BYTES", "0", 0, INT64_C(1) << 50, .commands = CRAWLS, .is_setting = true,
                  .help = "receive at most BYTES a second in all (k, M, G); 0 = no limit"},
    [OPT_MAX_TIME] = {"max-time", TYPE_DURATION, "TIME", "0", 0, INT64_C(31536000000), 1000, CRAWLS, true,
                      .help = "stop after TIME: seconds, or 10m, 2h, 1d; 0 = no limit"},
    [OPT_OWN_SITE] = {"own-site", TYPE_LIST, "HOST", .commands = CRAWLS, .is_setting = true,
                      .help = "HOST is yours: --delay and --per-host apply to it as given; may be repeated"},
    [OPT_ALLOW_PRIVATE] = {"allow-private", TYPE_FLAG, .value = "no",
                           .commands = CRAWLS | CMD_PROGRAM | CMD_PROBE | CMD_COORDINATOR, .is_setting = true,
                           .help = "allow loopback, private and link-local addresses"},

    [OPT_CONTACT] = {"contact", TYPE_TEXT, "TEXT", .commands = CRAWLS | CMD_PROGRAM | CMD_PROBE | CMD_COORDINATOR,
                     .is_setting = true,
                     .help = "mail address or URL for site owners, part of the user agent; crawl: asked once on a "
                             "terminal and kept in the data folder; coordinator: kept in the data folder, and given to "
                             "the agent of --with-agent"},
    [OPT_PURPOSE_URL] = {"purpose-url", TYPE_TEXT, "URL",
                         .commands = CRAWLS | CMD_PROGRAM | CMD_PROBE | CMD_COORDINATOR, .is_setting = true,
                         .help = "page that says what this crawl is for, part of the user agent; coordinator: given to "
                                 "the agent of --with-agent"},
    [OPT_USER_AGENT] = {"user-agent", TYPE_TEXT, "TEXT", .commands = CRAWLS | CMD_PROGRAM | CMD_PROBE,
                        .is_setting = true,
                        .help = "the whole User-Agent line, in place of orbweaver/VERSION (+PURPOSE-URL; CONTACT); its "
                                "first word is what robots.txt is asked for"},
    [OPT_HEADER] = {"header", TYPE_LIST, "LINE", .commands = CRAWLS, .is_setting = true,
                    .help =
                        "send \"Name: value\" with every request; lines with a secret (Authorization, Cookie, names "
                        "with auth, token, key, secret, password or session) only to the sites of the start "
                        "pages; may be repeated"},
    [OPT_PROXY] = {"proxy", TYPE_TEXT, "URL", .commands = CRAWLS | CMD_HIERARCHY | CMD_COORDINATOR, .is_setting = true,
                   .help = "send requests through this proxy; http_proxy and its like are ignored; coordinator: for "
                           "--refresh-registries only"},
    [OPT_CA_FILE] = {"ca-file", TYPE_TEXT, "FILE",
                     .commands = CRAWLS | CMD_PROGRAM | CMD_PROBE | CMD_HIERARCHY | CMD_COORDINATOR, .is_setting = true,
                     .help = "trust the certificate authorities in FILE (PEM) instead of the system's; coordinator: "
                             "for --refresh-registries, and the agent of --with-agent"},
    [OPT_INSECURE] = {"insecure", TYPE_FLAG, .value = "no", .commands = CRAWLS | CMD_PROGRAM | CMD_PROBE,
                      .is_setting = true, .help = "accept any certificate"},
    [OPT_RESOLVER] = {"resolver", TYPE_TEXT, "ADDR[:PORT]",
                      .commands = CRAWLS | CMD_PROGRAM | CMD_PROBE | CMD_COORDINATOR, .is_setting = true,
                      .help = "ask this DNS server instead of the system's"},
    [OPT_HOSTS] = {"hosts", TYPE_TEXT, "FILE", .commands = CRAWLS | CMD_PROGRAM | CMD_PROBE | CMD_COORDINATOR,
                   .is_setting = true, .help = "names looked up in FILE (lines as in /etc/hosts) before DNS"},

    [OPT_KEEP_PARAMS] = {"keep-params", TYPE_FLAG, .value = "no",
                         .commands = CRAWLS | CMD_IMPORT | CMD_EXPLAIN | CMD_URL, .is_setting = true,
                         .help = "keep session and tracking parameters (utm_*, PHPSESSID, ...) in URLs"},
    [OPT_DROP_PARAM] = {"drop-param", TYPE_LIST, "GLOB", .commands = CRAWLS | CMD_IMPORT | CMD_EXPLAIN | CMD_URL,
                        .is_setting = true,
                        .help = "drop query parameters whose name matches as well; may be repeated"},
    [OPT_FRONTIER_MIB] = {"frontier-mib", TYPE_INT, "N", "64", 1, 65536, .commands = CRAWLS, .is_setting = true,
                          .help = "memory for waiting URLs, in MiB; the rest waits on disk"},
    [OPT_INDEX] = {"index", TYPE_FLAG, .value = "yes", .commands = CRAWLS | CMD_IMPORT | CMD_BACKUP, .is_setting = true,
                   .help =
                       "crawl, import: keep the texts of pages and make them searchable; backup: take the index along"},
    [OPT_INDEX_MIB] = {"index-mib", TYPE_INT, "N", "64", 4, 65536, .commands = CRAWLS | CMD_IMPORT | CMD_COORDINATOR,
                       .is_setting = true, .help = "memory for new pages of the index, in MiB; the rest is on disk"},
    [OPT_PDF] = {"pdf", TYPE_FLAG, .value = "yes", .commands = CRAWLS | CMD_IMPORT, .is_setting = true,
                 .help = "read PDFs with pdftotext (poppler-utils), in a process that can do nothing else; without "
                         "that program, or with --no-pdf, they are known by name"},
    [OPT_DOCUMENTS] = {"documents", TYPE_FLAG, .value = "yes", .commands = CRAWLS | CMD_COORDINATOR, .is_setting = true,
                       .help = "make files that are not read (images, archives, office files, ...) searchable by "
                               "name, type and what links call them"},
    [OPT_WARC] = {"warc", TYPE_TEXT, "DIR", .commands = CRAWLS | CMD_FORGET | CMD_PRUNE, .is_setting = true,
                  .help = "crawl: keep every answer as it came in WARC files in DIR; forget: take the records "
                          "out of the WARC "
                          "files in DIR, too; prune: remove WARC files in DIR, too"},
    [OPT_WARC_COMPRESSION] = {"warc-compression", TYPE_CHOICE, "gzip|zstd", "gzip", .commands = CRAWLS,
                              .is_setting = true, .help = "how each record of --warc is compressed"},
    [OPT_WARC_SIZE] = {"warc-size", TYPE_SIZE, "BYTES", "1G", 1 << 10, INT64_C(1) << 50, .commands = CRAWLS,
                       .is_setting = true, .help = "begin a new WARC file when one would pass BYTES (k, M, G)"},
    [OPT_LOG] = {"log", TYPE_TEXT, "FILE", .commands = CRAWLS | CMD_COORDINATOR, .is_setting = true,
                 .help = "append log lines to FILE"},
    [OPT_LOG_LEVEL] = {"log-level", TYPE_CHOICE, "error|warn|info|debug", .commands = CRAWLS | CMD_COORDINATOR,
                       .is_setting = true,
                       .help = "how much to log; not given: info with --log and of a coordinator, else error"},
    [OPT_PROGRESS] = {"progress", TYPE_FLAG, .commands = CRAWLS | CMD_IMPORT, .is_setting = true,
                      .help = "show the progress line; on where standard error is a terminal"},
    [OPT_QUIET] = {"quiet", TYPE_FLAG, .value = "no", .commands = CRAWLS | CMD_IMPORT, .is_setting = true,
                   .help = "no progress and no summary"},

    [OPT_FORMAT] = {"format", TYPE_CHOICE, "jsonl|csv", "jsonl", .commands = CMD_EXPORT,
                    .help = "one JSON object a line, or CSV with a heading"},
    [OPT_ALL] = {"all", TYPE_FLAG, .value = "no", .commands = CMD_EXPORT | CMD_LINKS,
                 .help = "export: every URL that was visited, not only good pages; links: other schemes than http(s) "
                         "too"},
    [OPT_STATES] =
        {"states", TYPE_FLAG, .value = "no", .commands = CMD_EXPORT,
         .help = "with each page what a recrawl wants to know: validators, times, visits and which of them found a "
                 "change"},
    [OPT_CHANNEL] = {"channel", TYPE_TEXT, "ID", .commands = CMD_EXPORT,
                     .help = "only pages of this channel; orb status --json lists the ids"},
    [OPT_NORMALISE] = {"normalise", TYPE_FLAG, .value = "no", .commands = CMD_URL,
                       .help = "the crawler's own normalisation on top: no fragment, no tracking parameters, one "
                               "spelling of %xx"},
    [OPT_EXPLAIN] = {"explain", TYPE_FLAG, .value = "no", .commands = CMD_ROBOTS,
                     .help = "name the rule and its line behind each verdict"},
    [OPT_BASE] = {"base", TYPE_TEXT, "URL", .commands = CMD_LINKS | CMD_PROGRAM | CMD_SITEMAP,
                  .help = "where the page came from"},
    [OPT_KEY] = {"key", TYPE_TEXT, "FILE", .commands = CMD_PROGRAM | CMD_AGENT, .verbs = "agent offer",
                 .help = "program sign, agent offer: the secret key, made by orb key new"},
    [OPT_SERIAL] = {"serial", TYPE_INT, "N", .max = INT64_MAX, .commands = CMD_PROGRAM,
                    .help = "sign: number of this version, higher than all before; seconds since 1970 when not given"},
    [OPT_LIMIT] = {"limit", TYPE_INT, "N", "10", 1, 1000, .commands = CMD_SEARCH, .help = "show N results"},
    [OPT_OFFSET] = {"offset", TYPE_INT, "N", "0", 0, 999, .commands = CMD_SEARCH,
                    .help = "leave out the first N results"},
    [OPT_SIMILAR] = {"similar", TYPE_FLAG, .value = "no", .commands = CMD_SEARCH,
                     .help = "list near-duplicates each on their own"},
    [OPT_OPEN] = {"open", TYPE_INT, "N", .min = 1, .max = 1000, .commands = CMD_SEARCH,
                  .help = "open result N in the browser (BROWSER, else xdg-open) instead of showing results"},
    [OPT_REPAIR] = {"repair", TYPE_FLAG, .value = "yes", .commands = CMD_CHECK,
                    .help = "put right what is wrong; --no-repair only looks"},
    [OPT_CHECK] = {"check", TYPE_FLAG, .value = "no", .commands = CMD_DEMO,
                   .help = "ask the search page what is known to be right, print a line each, and end; for scripts"},
    [OPT_AGENTS] = {"agents", TYPE_INT, "N", "0", 0, 16, .commands = CMD_DEMO,
                    .help = "crawl with a coordinator and N agents, each a process of its own, and show how sites find "
                            "the nearest agent; 0 = this process alone"},
    [OPT_LISTEN] = {"listen", TYPE_TEXT, "ADDR:PORT", "127.0.0.1:8080", .commands = SERVES, .is_setting = true,
                    .help = "where the search page is served; a port alone is on this machine only, *:PORT is for "
                            "everybody"},
    [OPT_ADMIN_LISTEN] = {"admin-listen", TYPE_TEXT, "ADDR:PORT", "127.0.0.1:8081", .commands = COORDINATES,
                          .is_setting = true,
                          .help = "where the coordinator is administered, by plain HTTP: on this machine, or behind a "
                                  "proxy that speaks TLS"},
    [OPT_PLAIN] = {"plain", TYPE_FLAG, .value = "no", .commands = COORDINATES, .is_setting = true,
                   .help = "no TLS: only where --listen is a loopback address"},
    [OPT_TLS_CERT] = {"tls-cert", TYPE_TEXT, "FILE", .commands = COORDINATES, .is_setting = true,
                      .help = "certificate (PEM) instead of one that the coordinator makes for itself"},
    [OPT_TLS_KEY] = {"tls-key", TYPE_TEXT, "FILE", .commands = COORDINATES, .is_setting = true,
                     .help = "the key of --tls-cert (PEM)"},
    [OPT_PUBLIC_HOST] = {"public-host", TYPE_TEXT, "HOST:PORT", .commands = COORDINATES, .is_setting = true,
                         .help = "how agents reach the coordinator, where that is not the address of --listen"},
    [OPT_STRATEGY] = {"strategy", TYPE_CHOICE, "learned|ipmicra|hash|random|probe-all|farthest", "learned",
                      .commands = COORDINATES, .is_setting = true,
                      .help =
                          "which agent gets a network: the nearest, found with few probes or as the papers have it; by "
                          "the hash of its domain; any; the nearest or the farthest of all, each of them probed"},
    [OPT_THRESHOLD] = {"threshold", TYPE_TEXT, "MS", "50", .commands = DELEGATES, .is_setting = true,
                       .verbs = "sim delegate report", .help = "ipmicra: a round trip under MS is near enough"},
    [OPT_SAME_HOLDER] = {"same-holder", TYPE_CHOICE, "001|000|000-code", "001", .commands = DELEGATES,
                         .is_setting = true, .verbs = "sim delegate report",
                         .help =
                             "ipmicra: one agent with networks of the same holder must be under the threshold, takes "
                             "the network without a probe unless there are several, or takes it whoever comes first"},
    [OPT_COST] = {"cost", TYPE_TEXT, "MS", .commands = DELEGATES, .is_setting = true, .verbs = "sim delegate report",
                  .help = "learned: what a probe must be expected to gain"},
    [OPT_CALIBRATION] = {"calibration", TYPE_CHOICE, "path|papers", "path", .commands = DELEGATES, .is_setting = true,
                         .verbs = "sim delegate report",
                         .help = "when a network is decided anew: the round trip of the path has grown, or the papers' "
                                 "rule: the time of whole requests has"},
    [OPT_CALIBRATION_FACTOR] = {"calibration-factor", TYPE_TEXT, "F", "1.5", .commands = DELEGATES, .is_setting = true,
                                .verbs = "sim delegate report", .help = "it has grown when it is F times what it was"},
    [OPT_BALANCE] = {"balance", TYPE_CHOICE, "gain|variance|next-best|off", "gain", .commands = DELEGATES,
                     .is_setting = true, .verbs = "sim delegate report",
                     .help = "which networks move when an agent is full: those that lose least, by a rule of the "
                             "papers, or none"},
    [OPT_REFRESH_REGISTRIES] = {"refresh-registries", TYPE_FLAG, .value = "no", .commands = COORDINATES,
                                .is_setting = true,
                                .help = "fetch the address registries' public files once a month, and make "
                                        "DIR/hierarchy of them; see orb help hierarchy"},
    [OPT_REFRESH_EVERY] = {"refresh-every", TYPE_DURATION, "TIME", "30d", 1000, INT64_C(31536000000), 1000, COORDINATES,
                           true, .help = "with --refresh-registries: how often"},
    [OPT_REFRESH_FROM] = {"refresh-from", TYPE_TEXT, "URL", .commands = COORDINATES, .is_setting = true,
                          .help = "with --refresh-registries: get the files from this folder of a mirror"},
    [OPT_LEASE] = {"lease", TYPE_DURATION, "TIME", "10m", 1000, 86400000, 1000, COORDINATES, true,
                   .help = "an agent that does not hear from the coordinator stops crawling after TIME"},
    [OPT_MOVE_AFTER] = {"move-after", TYPE_DURATION, "TIME", "1h", 1000, INT64_C(31536000000), 1000, COORDINATES, true,
                        .help = "an agent that is not heard for TIME in its hours loses its networks to others"},
    [OPT_CHECK_EVERY] = {"check-every", TYPE_INT, "N", "100", 1, 1000000, .commands = COORDINATES, .is_setting = true,
                         .help = "one page in N of a new agent is fetched by another agent too, and compared"},
    [OPT_DISCOVER] = {"discover", TYPE_FLAG, .value = "no", .commands = COORDINATES, .is_setting = true,
                      .help = "crawl the sites that links lead to as well, each as a channel of its own"},
    [OPT_RECRAWL] = {"recrawl", TYPE_CHOICE, "greedy|iir|icr|fixed|off", "greedy", .commands = COORDINATES,
                     .is_setting = true,
                     .help = "how what was crawled is kept fresh: by what each visit gains, by intervals that follow "
                             "what agents can do, by fixed intervals, or not at all; not given: as orb channel recrawl "
                             "said last"},
    [OPT_RECRAWL_CEILING] = {"recrawl-ceiling", TYPE_TEXT, "X", "2", .commands = COORDINATES, .is_setting = true,
                             .help = "a channel is visited at most X times as often as its pages change"},
    [OPT_RECRAWL_PAGES] = {"recrawl-pages", TYPE_INT, "N", "10000", 1, 1000000000, .commands = COORDINATES,
                           .is_setting = true, .help = "a visit looks at N known pages of a channel at most"},
    [OPT_RECRAWL_TIME_SCALE] = {"recrawl-time-scale", TYPE_INT, "N", "1", 1, 100000, .commands = COORDINATES,
                                .help =
                                    "for tests: changes are expected, and visits planned, as if time ran N times as "
                                    "fast"},
    [OPT_WITH_AGENT] = {"with-agent", TYPE_FLAG, .value = "no", .commands = COORDINATES, .is_setting = true,
                        .help = "run an agent on this machine too, called here, in DIR/agent"},
    [OPT_RELEASE] = {"release", TYPE_TEXT, "VERSION", .commands = CMD_AGENT, .verbs = "agent offer",
                     .help = "offer: version of the new orb-agent, such as 1.2.0; older ones are not taken"},
    [OPT_PLACE] = {"place", TYPE_TEXT, "TEXT", .commands = CMD_AGENT, .verbs = "agent add change",
                   .help =
                       "where the agent is, such as \"Oslo\" or \"Paris, US\"; a city that is known also gives --at"},
    [OPT_AT] = {"at", TYPE_TEXT, "LAT,LON", .commands = CMD_AGENT, .verbs = "agent add change",
                .help = "where the agent is, in degrees, such as 59.91,10.75; north and east are positive"},
    [OPT_HOURS] = {"hours", TYPE_TEXT, "TEXT", .commands = CMD_AGENT, .verbs = "agent add change",
                   .help = "when the agent may work, such as \"mon-fri 20:00-06:00; sat,sun 00:00-24:00 "
                           "Europe/Athens\"; always when not given"},
    [OPT_BYTES_A_DAY] = {"bytes-a-day", TYPE_SIZE, "BYTES", .max = INT64_C(1) << 60, .commands = CMD_AGENT,
                         .verbs = "agent add change", .help = "the agent fetches at most BYTES a day (k, M, G)"},
    [OPT_BANDWIDTH] = {"bandwidth", TYPE_SIZE, "BYTES", .max = INT64_C(1) << 50, .commands = CMD_AGENT,
                       .verbs = "agent add change", .help = "the agent receives at most BYTES a second"},
    [OPT_MEMORY] = {"memory", TYPE_SIZE, "BYTES", .max = INT64_C(1) << 50, .commands = CMD_AGENT,
                    .verbs = "agent add change", .help = "memory the agent may use"},
    [OPT_DISK] = {"disk", TYPE_SIZE, "BYTES", .max = INT64_C(1) << 60, .commands = CMD_AGENT,
                  .verbs = "agent add change", .help = "disk space the agent may use"},
    [OPT_IDLE_ONLY] = {"idle-only", TYPE_FLAG, .commands = CMD_AGENT, .verbs = "agent add change",
                       .help = "the agent works only while nobody else uses its machine"},
    [OPT_TRUSTED] = {"trusted", TYPE_FLAG, .commands = CMD_AGENT, .verbs = "agent add",
                     .help = "add: a machine of your own, trusted from the start: no probation"},
    [OPT_TASKS] = {"tasks", TYPE_INT, "N", .min = 1, .max = 10000, .commands = CMD_AGENT, .verbs = "agent add change",
                   .help = "tasks that the agent works on at a time"},
    [OPT_LABEL] = {"label", TYPE_TEXT, "TEXT", .commands = CMD_CHANNEL, .verbs = "channel add edit import",
                   .help = "what people call the channel"},
    [OPT_KIND] = {"kind", TYPE_CHOICE, "text|keywords", "text", .commands = CMD_CHANNEL,
                  .verbs = "channel add edit import",
                  .help = "what agents send of a page: its text, or its words with their counts (smaller; no phrases, "
                          "no snippets)"},
    [OPT_EVERY] = {"every", TYPE_DURATION, "TIME", NULL, 0, INT64_C(31536000000), 1000, CMD_CHANNEL, false,
                   .help = "look at its pages again after TIME, always; 0 = never; not given: as often as it changes",
                   .verbs = "channel add edit import"},
    [OPT_WEIGHT] = {"weight", TYPE_TEXT, "X", .commands = CMD_CHANNEL, .verbs = "channel add edit import",
                    .help = "how important it is that the channel is fresh, from 0.001 to 1000, 1 when not given; "
                            "links from other sites "
                            "are counted besides"},
    [OPT_NEVER] = {"never", TYPE_FLAG, .commands = CMD_CHANNEL, .verbs = "channel add edit import",
                   .help = "do not look at its pages again unless told to: orb channel recheck"},
    [OPT_AT_MOST_EVERY] = {"at-most-every", TYPE_DURATION, "TIME", NULL, 0, INT64_C(31536000000), 1000, CMD_CHANNEL,
                           false, .help = "look at its pages again after TIME at the earliest; 0 = as it changes",
                           .verbs = "channel add edit import"},
    [OPT_AT_LEAST_EVERY] = {"at-least-every", TYPE_DURATION, "TIME", NULL, 0, INT64_C(31536000000), 1000, CMD_CHANNEL,
                            false, .help = "look at its pages again after TIME at the latest; 0 = as it changes",
                            .verbs = "channel add edit import"},
    [OPT_AGENT] = {"agent", TYPE_TEXT, "NAME", .commands = CMD_CHANNEL | CMD_NETWORK,
                   .verbs = "channel add edit import",
                   .help = "channel: always crawled by this agent; network list: only this agent's"},
    [OPT_WHOLE] = {"whole", TYPE_FLAG, .value = "no", .commands = CMD_CHANNEL, .verbs = "channel recheck",
                   .help = "recheck: fetch pages again that have not changed, so that a new program sees them"},
    [OPT_PROGRAM_NAME] = {"program", TYPE_TEXT, "PROGRAM", .commands = CMD_CRAWL | CMD_CHANNEL | CMD_KEY,
                          .verbs = "channel add edit import",
                          .help = "crawl: Lua file that is run on every page (docs/programs.md); channel: name of the "
                                  "program that agents run on its pages; key new: file of the new key"},
    [OPT_EXPECTED] = {"expected", TYPE_INT, "N", .max = INT64_C(1000000000000), .commands = CMD_CHANNEL,
                      .verbs = "channel add edit import", .help = "pages it is expected to have"},
    [OPT_CHANNEL_WARC] = {"warc", TYPE_FLAG, .value = "no", .commands = CMD_CHANNEL, .verbs = "channel add edit import",
                          .help = "agents send answers as they came; the coordinator keeps them as WARC files in its "
                                  "data folder"},
    [OPT_PROBE_KIND] = {"kind", TYPE_CHOICE, "tcp|head|icmp|all", "tcp", .commands = CMD_PROBE,
                        .help = "what is measured: a TCP connection, an HTTP HEAD request, an ICMP echo, or one after "
                                "the other"},
    [OPT_SAMPLES] = {"samples", TYPE_INT, "N", "3", 1, 16, .commands = CMD_PROBE, .help = "measure N times"},
    [OPT_AT_ONCE] = {"at-once", TYPE_INT, "N", "1", 1, 256, .commands = CMD_PROBE,
                     .help = "measure N targets at the same time, never two at one address"},
    [OPT_GAP] = {"gap", TYPE_DURATION, "MS", "200", 0, 600000, 1, CMD_PROBE, false,
                 .help = "pause between two samples; on public addresses at least 200, and 1000 between HEAD requests"},
    [OPT_PORT] = {"port", TYPE_INT, "N", .min = 1, .max = 65535, .commands = CMD_PROBE,
                  .help = "for targets that name none; else 443, or 80 for http and private addresses"},
    [OPT_PUBLIC_URL] = {"public-url", TYPE_TEXT, "URL", .commands = SERVES, .is_setting = true,
                        .help = "address by which people reach the search page, where a proxy stands before it"},
    [OPT_QUERY_RATE] = {"query-rate", TYPE_INT, "N", "5", 0, 100000, .commands = SERVES, .is_setting = true,
                        .help = "requests a second from one address, six times that at once, twenty times that from "
                                "this machine; 0 = no limit"},
    [OPT_SAMPLE] = {"sample", TYPE_FLAG, .value = "no", .commands = CMD_CONFIG,
                    .help = "print a config file with every setting explained"},
    [OPT_LIST] = {"list", TYPE_FLAG, .value = "no", .commands = CMD_HELP,
                  .help = "list commands and options for programs, one a line"},
    [OPT_MAN] = {"man", TYPE_FLAG, .value = "no", .commands = CMD_HELP,
                 .help = "the help as a manual page, in mdoc; orb help --man crawl | man -l -"},
    [OPT_FORGOTTEN] = {"list", TYPE_FLAG, .value = "no", .commands = CMD_FORGET,
                       .help = "show what is forgotten, since when and why"},
    [OPT_WHY] = {"why", TYPE_TEXT, "TEXT", .commands = CMD_FORGET,
                 .help = "the reason, for orb explain and --list: a date, who asked for it"},
    [OPT_UNDO] = {"undo", TYPE_FLAG, .value = "no", .commands = CMD_FORGET, .help = "the places may be crawled again"},
    [OPT_DRY_RUN] = {"dry-run", TYPE_FLAG, .value = "no", .commands = CMD_FORGET | CMD_PRUNE,
                     .help = "only show what would go"},
    [OPT_KEEP_GONE] = {"keep-gone", TYPE_INT, "DAYS", "90", 0, 36500, .commands = RETAINS, .is_setting = true,
                       .help = "keep pages that are gone (404, 410) for DAYS after they were last seen good; 0 = for "
                               "ever"},
    [OPT_KEEP_DAYS] = {"keep-days", TYPE_INT, "DAYS", "0", 0, 36500, .commands = RETAINS, .is_setting = true,
                       .help = "keep any page for DAYS after it was last seen good; 0 = for ever"},
    [OPT_KEEP_WARC] = {"keep-warc", TYPE_SIZE, "BYTES", "0", 0, INT64_C(1) << 50, .commands = RETAINS,
                       .is_setting = true,
                       .help = "remove the oldest WARC files while all of them have more than BYTES (k, M, G); 0 = no "
                               "limit"},
    [OPT_KEEP_WARC_DAYS] = {"keep-warc-days", TYPE_INT, "DAYS", "0", 0, 36500, .commands = RETAINS, .is_setting = true,
                            .help = "remove WARC files that were closed more than DAYS ago; 0 = never"},
    [OPT_OPT_OUT] = {"opt-out", TYPE_TEXT, "FILE", .commands = CRAWLS | CMD_IMPORT | CMD_COORDINATOR | CMD_PRUNE,
                     .is_setting = true,
                     .help =
                         "a list of places whose owners want to be left alone, one a line: nothing of them is asked "
                         "for, and what is there of them is forgotten, also in --warc"},
    [OPT_JSON] = {"json", TYPE_FLAG, .value = "no",
                  .commands = CMD_ALL & ~(CMD_HELP | CMD_COMPLETION | CMD_DEMO | CMD_SERVE | CMD_COORDINATOR | CMD_LAB),
                  .verbs = "sim delegate place recrawl", .help = "results as JSON"},

    [OPT_WORLD] = {"world", TYPE_TEXT, "DIR", .commands = CMD_SIM,
                   .help = "the world: a folder made by orb world make"},
    [OPT_NETWORKS] =
        {"networks", TYPE_TEXT, "FILE", .commands = CMD_SIM | CMD_WORLD,
         .help = "registered networks: a table of prefix, country and holder, a registry's file, or a "
                 "hierarchy of orb hierarchy build; sim: in place of the world's; world: in place of made-up ones"},
    [OPT_HIERARCHY] =
        {"hierarchy", TYPE_TEXT, "FILE", .commands = CMD_SIM | CMD_HIERARCHY | COORDINATES,
         .help = "the registry hierarchy, made by orb hierarchy build; hierarchy, coordinator, config: in place of "
                 "DIR/hierarchy; sim: in place of the world's networks"},
    [OPT_CAPACITY] = {"capacity", TYPE_TEXT, "N", .commands = CMD_SIM, .verbs = "sim delegate report",
                      .help =
                          "each agent takes at most N fair shares of all sites, such as 1.2, or bytes a day, such as "
                          "500M; no limit when not given"},
    [OPT_FAMILY] = {"family", TYPE_CHOICE, "4|6|both", "4", .commands = CMD_SIM, .verbs = "sim delegate report",
                    .help = "meet sites by IPv4, only those that have IPv6 by that, or all by IPv6 where they have it"},
    [OPT_DRIFT] = {"drift", TYPE_CHOICE, "none|paths|both|servers", .commands = CMD_SIM, .verbs = "sim delegate report",
                   .help =
                       "crawl on after all is delegated, and calibrate: nothing changes, a third of the round trips "
                       "grow, grow or shrink, or a third of the servers get slow"},
    [OPT_DAYS] = {"days", TYPE_INT, "N", "3", 1, 3650, .commands = CMD_SIM, .verbs = "sim delegate report",
                  .help = "with --drift: crawl for N days"},
    [OPT_ARRIVE] = {"arrive", TYPE_TEXT, "PERCENT", .commands = CMD_SIM, .verbs = "sim delegate report",
                    .help =
                        "sites come in the order of the world, and so many of a hundred that have an agent wait for "
                        "theirs at a time, at least 8, as in the lab; else in random order, one after the other"},
    [OPT_ORDER] = {"order", TYPE_TEXT, "FILE", .commands = CMD_SIM, .verbs = "sim delegate report",
                   .help = "with --arrive: sites come in the order of FILE, a host a line, and then those it does not "
                           "name"},
    [OPT_NOISE] = {"noise", TYPE_TEXT, "PERCENT", .commands = CMD_SIM, .verbs = "sim delegate report",
                   .help = "noise of a measurement (3); 0 is none, and no outliers"},
    [OPT_SIM_SAMPLES] = {"samples", TYPE_INT, "N", "3", 1, 15, .commands = CMD_SIM, .verbs = "sim delegate report",
                         .help = "samples of a measurement, whose median counts"},
    [OPT_SEED] = {"seed", TYPE_INT, "N", "1", 0, INT64_MAX, .commands = CMD_SIM | CMD_WORLD,
                  .verbs = "sim delegate recrawl report",
                  .help = "of all that is drawn: the same seed gives the same result"},
    [OPT_SITES] = {"sites", TYPE_INT, "N", "0", 0, 10000000, .commands = CMD_SIM | CMD_WORLD,
                   .verbs = "sim delegate report",
                   .help = "sim: only N sites of the world; world: how many to make, 1,000 when not given"},
    [OPT_WORLD_AGENTS] = {"agents", TYPE_INT, "N", "12", 1, 65536, .commands = CMD_SIM | CMD_WORLD,
                          .verbs = "sim place recrawl report",
                          .help =
                              "world: how many to make; sim place: how many more to look for; sim recrawl: how many "
                              "there are, 1,400 when not given"},
    [OPT_FIRST_AGENTS] = {"first-agents", TYPE_INT, "N", "0", 0, 65536, .commands = CMD_SIM,
                          .help = "only the first N agents of the world, as a lab has them; 0 = all"},
    [OPT_FIRST_SITES] =
        {"first-sites", TYPE_INT, "N", "0", 0, 10000000, .commands = CMD_SIM,
         .help = "only the first N sites of the world, as a lab has them, where --sites draws some; 0 = all"},
    [OPT_MODEL] = {"model", TYPE_CHOICE, "geo", "geo", .commands = CMD_WORLD,
                   .help = "round trips by distance, with a factor for each pair of countries"},
    [OPT_MATRIX] = {"matrix", TYPE_TEXT, "FILE", .commands = CMD_WORLD,
                    .help = "round trips as measured: a table with columns a, b and ms"},
    [OPT_NODES] = {"nodes", TYPE_TEXT, "FILE", .commands = CMD_WORLD,
                   .help = "where the nodes of --matrix are: a table with columns id (or name), lat and lon"},
    [OPT_SIM_STRATEGY] =
        {"strategy", TYPE_CHOICE, "learned|ipmicra|hash|random|probe-all|farthest|greedy|icr|iir|fixed",
         .commands = CMD_SIM, .verbs = "sim delegate recrawl",
         .help = "delegate: which agent gets a network (learned); recrawl: when a channel is crawled again, greedy, "
                 "icr, iir or fixed (all four, one after the other)"},
    [OPT_STEPS] = {"steps", TYPE_INT, "N", "90000", 0, 10000000, .commands = CMD_SIM, .verbs = "sim recrawl report",
                   .help = "recrawl, report: so many minutes; report: 0 leaves recrawling out"},
    [OPT_SIM_CHANNELS] = {"channels", TYPE_INT, "N", "17777", 1, 1000000, .commands = CMD_SIM,
                          .verbs = "sim recrawl report",
                          .help = "recrawl, report: how many there are to be kept fresh"},
    [OPT_ENCOURAGEMENT] = {"encouragement", TYPE_TEXT, "X", "0.6", .commands = CMD_SIM, .verbs = "sim recrawl report",
                           .help = "recrawl: iir and icr shorten an interval to X of it when more tasks succeed"},
    [OPT_CEILING] = {"ceiling", TYPE_TEXT, "X", "2", .commands = CMD_SIM, .verbs = "sim recrawl report",
                     .help = "recrawl: visits that succeed are at most X a change"},
    [OPT_SWING] = {"swing", TYPE_INT, "STEP", "0", 0, 10000000, .commands = CMD_SIM, .verbs = "sim recrawl report",
                   .help = "recrawl: half of the agents leave at STEP for a day, then there are twice as many as at "
                           "first; 0 = they stay"},
    [OPT_CHANGES] = {"changes", TYPE_TEXT, "FILE", .commands = CMD_SIM, .verbs = "sim recrawl",
                     .help = "recrawl: channels change as the folders of a real history did, not at random"},
    [OPT_FIND_RANKS] = {"find-ranks", TYPE_FLAG, .value = "no", .commands = CMD_SIM, .verbs = "sim recrawl report",
                        .help = "recrawl: ranks follow from what visits find; else they are given, as in the paper"},
    [OPT_OUTPUT] = {"output", TYPE_TEXT, "PATH", .commands = CMD_SIM | CMD_WORLD | CMD_HIERARCHY, .verbs = "sim report",
                    .help = "where to write it; -o PATH is the same"},
    [OPT_IN] =
        {"in", TYPE_LIST, "FILE", .commands = CMD_HIERARCHY,
         .help = "build: read FILE, or the files of a folder, and those that follow it; may be repeated; DIR/registry, "
                 "where fetch puts them, when not given"},
    [OPT_VERBOSE] = {"verbose", TYPE_FLAG, .value = "no", .commands = CMD_HIERARCHY,
                     .help = "build: show every line that was skipped, not the first 10 of each file; diff: every "
                             "change, not the first 20 of each kind"},
    [OPT_FROM] = {"from", TYPE_TEXT, "URL", .commands = CMD_HIERARCHY,
                  .help = "fetch: get the files from this folder of a mirror instead of from the registries"},
    [OPT_RPSL] = {"rpsl", TYPE_FLAG, .value = "no", .commands = CMD_HIERARCHY,
                  .help = "fetch: the databases with the names of holders too, where they are public (RIPE, APNIC, "
                          "AFRINIC); some hundred MB"},
};
