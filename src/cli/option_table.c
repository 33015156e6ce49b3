#include "cli/options.h"

#define CRAWLS (CMD_CRAWL | CMD_CONFIG)
#define SERVES (CMD_SERVE | CMD_CONFIG)
#define FOLDER (CMD_CRAWL | CMD_EXPORT | CMD_STATUS | CMD_EXPLAIN | CMD_CONFIG | CMD_SEARCH | CMD_SERVE | CMD_CHECK)

/* Defaults and limits are those of docs/architecture.md; the engine has them again as its own zero values. */
const struct opt_def option_table[OPT_COUNT] = {
    [OPT_HELP] = {"help", TYPE_FLAG, .commands = CMD_ALL, .help = "show this help and exit"},
    [OPT_CONFIG] = {"config", TYPE_TEXT, "FILE", .commands = CMD_ALL,
                    .help = "read settings from FILE instead of ORB_CONFIG or ~/.config/orb/orb.conf"},
    [OPT_DATA] = {"data", TYPE_TEXT, "DIR", "orb-data", .commands = FOLDER | CMD_DEMO, .is_setting = true,
                  .help = "data folder; made when missing"},

    [OPT_PAGES] = {"pages", TYPE_INT, "N", "0", 0, INT64_C(1000000000000), .commands = CRAWLS, .is_setting = true,
                   .help = "stop when the folder holds N good pages, all runs together; 0 = no limit"},
    [OPT_DEPTH] = {"depth", TYPE_INT, "N", "64", 0, 1000, .commands = CRAWLS, .is_setting = true,
                   .help = "follow links up to N steps away from a start page"},
    [OPT_SCOPE] = {"scope", TYPE_CHOICE, "site|domain|prefix", "site", .commands = CRAWLS, .is_setting = true,
                   .help = "what belongs to the crawl: the host and port of a start page, its whole registered domain, "
                           "or its folder"},
    [OPT_INCLUDE] = {"include", TYPE_LIST, "PATTERN", .commands = CRAWLS, .is_setting = true,
                     .help = "crawl only URLs that match; a glob over the whole URL, or re:REGEX; may be repeated"},
    [OPT_EXCLUDE] = {"exclude", TYPE_LIST, "PATTERN", .commands = CRAWLS, .is_setting = true,
                     .help = "never crawl URLs that match; may be repeated"},
    [OPT_SEEDS] = {"seeds", TYPE_TEXT, "FILE", .commands = CMD_CRAWL,
                   .help = "start pages from FILE, one a line, # starts a comment; - is standard input"},

    [OPT_DELAY] = {"delay", TYPE_DURATION, "MS", "1000", 0, 86400000, 1, CRAWLS, true,
                   "pause between two requests to a host, longer where the host is slow; on public addresses under 250 "
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
                      "stop after TIME: seconds, or 10m, 2h, 1d; 0 = no limit"},
    [OPT_OWN_SITE] = {"own-site", TYPE_LIST, "HOST", .commands = CRAWLS, .is_setting = true,
                      .help = "HOST is yours: --delay and --per-host apply to it as given; may be repeated"},
    [OPT_ALLOW_PRIVATE] = {"allow-private", TYPE_FLAG, .value = "no", .commands = CRAWLS, .is_setting = true,
                           .help = "allow loopback, private and link-local addresses"},

    [OPT_CONTACT] = {"contact", TYPE_TEXT, "TEXT", .commands = CRAWLS, .is_setting = true,
                     .help = "mail address or URL for site owners, part of the user agent; asked once on a terminal "
                             "and kept in the data folder"},
    [OPT_PURPOSE_URL] = {"purpose-url", TYPE_TEXT, "URL", .commands = CRAWLS, .is_setting = true,
                         .help = "page that says what this crawl is for, part of the user agent"},
    [OPT_USER_AGENT] = {"user-agent", TYPE_TEXT, "TEXT", .commands = CRAWLS, .is_setting = true,
                        .help = "the whole User-Agent line, in place of orbweaver/VERSION (+PURPOSE-URL; CONTACT); its "
                                "first word is what robots.txt is asked for"},
    [OPT_HEADER] = {"header", TYPE_LIST, "LINE", .commands = CRAWLS, .is_setting = true,
                    .help = "send \"Name: value\" with every request; may be repeated"},
    [OPT_PROXY] = {"proxy", TYPE_TEXT, "URL", .commands = CRAWLS, .is_setting = true,
                   .help = "send requests through this proxy; http_proxy and its like are ignored"},
    [OPT_CA_FILE] = {"ca-file", TYPE_TEXT, "FILE", .commands = CRAWLS, .is_setting = true,
                     .help = "trust the certificate authorities in FILE (PEM) instead of the system's"},
    [OPT_INSECURE] = {"insecure", TYPE_FLAG, .value = "no", .commands = CRAWLS, .is_setting = true,
                      .help = "accept any certificate"},
    [OPT_RESOLVER] = {"resolver", TYPE_TEXT, "ADDR[:PORT]", .commands = CRAWLS, .is_setting = true,
                      .help = "ask this DNS server instead of the system's"},
    [OPT_HOSTS] = {"hosts", TYPE_TEXT, "FILE", .commands = CRAWLS, .is_setting = true,
                   .help = "names looked up in FILE (lines as in /etc/hosts) before DNS"},

    [OPT_KEEP_PARAMS] = {"keep-params", TYPE_FLAG, .value = "no", .commands = CRAWLS | CMD_EXPLAIN | CMD_URL,
                         .is_setting = true,
                         .help = "keep session and tracking parameters (utm_*, PHPSESSID, ...) in URLs"},
    [OPT_DROP_PARAM] = {"drop-param", TYPE_LIST, "GLOB", .commands = CRAWLS | CMD_EXPLAIN | CMD_URL, .is_setting = true,
                        .help = "drop query parameters whose name matches as well; may be repeated"},
    [OPT_FRONTIER_MIB] = {"frontier-mib", TYPE_INT, "N", "64", 1, 65536, .commands = CRAWLS, .is_setting = true,
                          .help = "memory for waiting URLs, in MiB; the rest waits on disk"},
    [OPT_INDEX] = {"index", TYPE_FLAG, .value = "yes", .commands = CRAWLS, .is_setting = true,
                   .help = "keep the texts of pages and make them searchable"},
    [OPT_INDEX_MIB] = {"index-mib", TYPE_INT, "N", "64", 4, 65536, .commands = CRAWLS, .is_setting = true,
                       .help = "memory for new pages of the index, in MiB; the rest is on disk"},
    [OPT_LOG] = {"log", TYPE_TEXT, "FILE", .commands = CRAWLS, .is_setting = true, .help = "append log lines to FILE"},
    [OPT_LOG_LEVEL] = {"log-level", TYPE_CHOICE, "error|warn|info|debug", .commands = CRAWLS, .is_setting = true,
                       .help = "how much to log; info with --log, else error"},
    [OPT_PROGRESS] = {"progress", TYPE_FLAG, .commands = CRAWLS, .is_setting = true,
                      .help = "show the progress line; on where standard error is a terminal"},
    [OPT_QUIET] = {"quiet", TYPE_FLAG, .value = "no", .commands = CRAWLS, .is_setting = true,
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
    [OPT_BASE] = {"base", TYPE_TEXT, "URL", .commands = CMD_LINKS, .help = "where the page came from"},
    [OPT_LIMIT] = {"limit", TYPE_INT, "N", "10", 1, 1000, .commands = CMD_SEARCH, .help = "show N results"},
    [OPT_OFFSET] = {"offset", TYPE_INT, "N", "0", 0, 999, .commands = CMD_SEARCH,
                    .help = "leave out the first N results"},
    [OPT_OPEN] = {"open", TYPE_INT, "N", .min = 1, .max = 1000, .commands = CMD_SEARCH,
                  .help = "open result N in the browser (BROWSER, else xdg-open) instead of showing results"},
    [OPT_REPAIR] = {"repair", TYPE_FLAG, .value = "yes", .commands = CMD_CHECK,
                    .help = "put right what is wrong; --no-repair only looks"},
    [OPT_CHECK] = {"check", TYPE_FLAG, .value = "no", .commands = CMD_DEMO,
                   .help = "ask the search page what is known to be right, print a line each, and end; for scripts"},
    [OPT_LISTEN] = {"listen", TYPE_TEXT, "ADDR:PORT", "127.0.0.1:8080", .commands = SERVES, .is_setting = true,
                    .help = "where the search page is served; a port alone is on this machine only, *:PORT is for "
                            "everybody"},
    [OPT_PUBLIC_URL] = {"public-url", TYPE_TEXT, "URL", .commands = SERVES, .is_setting = true,
                        .help = "address by which people reach the search page, where a proxy stands before it"},
    [OPT_QUERY_RATE] = {"query-rate", TYPE_INT, "N", "5", 0, 100000, .commands = SERVES, .is_setting = true,
                        .help = "requests a second from one address, six times that at once, twenty times that from "
                                "this machine; 0 = no limit"},
    [OPT_SAMPLE] = {"sample", TYPE_FLAG, .value = "no", .commands = CMD_CONFIG,
                    .help = "print a config file with every setting explained"},
    [OPT_LIST] = {"list", TYPE_FLAG, .value = "no", .commands = CMD_HELP,
                  .help = "list commands and options for programs, one a line"},
    [OPT_JSON] = {"json", TYPE_FLAG, .value = "no", .commands = CMD_ALL & ~(unsigned)(CMD_HELP | CMD_DEMO | CMD_SERVE),
                  .help = "results as JSON"},
};
