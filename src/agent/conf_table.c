#include "agent/conf_internal.h"

#define SIZE_MOST (INT64_C(1) << 50)

const struct conf_def conf_table[CONF_COUNT] = {
    [CONF_HELP] = {"help", CONF_IS_FLAG, .help = "show this help and exit"},
    [CONF_VERSION] = {"version", CONF_IS_FLAG, .help = "show the version and exit"},
    [CONF_SAMPLE_CONFIG] = {"sample-config", CONF_IS_FLAG,
                            .help = "print a settings file with every setting explained"},
    [CONF_JSON] = {"json", CONF_IS_FLAG, .help = "status: as one JSON object"},
    [CONF_CONFIG] = {"config", CONF_IS_TEXT, "FILE",
                     .help = "read settings from FILE instead of ORB_AGENT_CONFIG or " CONF_FILE_DEFAULT},
    [CONF_DATA] = {"data", CONF_IS_TEXT, "DIR", "orb-agent-data", .is_setting = true,
                   .help = "folder for the key, the state and what waits to be sent; made when missing"},
    [CONF_JOIN] = {"join", CONF_IS_TEXT, "LINE",
                   .help = "enrol with a coordinator: the line that it shows, @FILE, or - for standard input; ignored "
                           "when this folder is enrolled with it already"},

    [CONF_HOURS] = {"hours", CONF_IS_TEXT, "TEXT", .is_setting = true,
                    .help = "work only then, as in \"mon-fri 20:00-06:00; sat,sun 00:00-24:00 Europe/Athens\"; outside "
                            "them nothing is fetched and nobody is talked to. Hours of the coordinator hold as well"},
    [CONF_BANDWIDTH] = {"bandwidth", CONF_IS_SIZE, "BYTES", "0", 0, SIZE_MOST, .is_setting = true,
                        .help = "at most BYTES a second (k, M, G); 0 = no limit. Here as with every limit the lower "
                                "one holds, yours or the coordinator's"},
    [CONF_BYTES_A_DAY] = {"bytes-a-day", CONF_IS_SIZE, "BYTES", "0", 0, SIZE_MOST, .is_setting = true,
                          .help = "at most BYTES a day (UTC), fetched and sent together; 0 = no limit"},
    [CONF_MEMORY] = {"memory", CONF_IS_SIZE, "BYTES", "512M", 64 << 20, SIZE_MOST, .is_setting = true,
                     .help = "use at most so much memory"},
    [CONF_DISK] = {"disk", CONF_IS_SIZE, "BYTES", "2G", 64 << 20, SIZE_MOST, .is_setting = true,
                   .help = "use at most so much of the disk, most of it for what waits to be sent; when that is full, "
                           "fetching waits"},
    [CONF_IDLE_ONLY] = {"idle-only", CONF_IS_FLAG, .value = "no", .is_setting = true,
                        .help = "work only while nobody else uses the machine"},
    [CONF_TASKS] = {"tasks", CONF_IS_INT, "N", "64", 1, 10000, .is_setting = true,
                    .help = "work on at most N tasks at a time; others wait in line"},
    [CONF_ALLOW_PRIVATE] = {"allow-private", CONF_IS_FLAG, .value = "no", .is_setting = true,
                            .help = "allow loopback, private and link-local addresses: your own network. A coordinator "
                                    "cannot set this"},
    [CONF_REFUSE_NETWORK] = {"refuse-network", CONF_IS_LIST, "PREFIX", .is_setting = true,
                             .help = "never fetch from these addresses, such as 192.0.2.0/24; may be repeated"},
    [CONF_REFUSE_COUNTRY] = {"refuse-country", CONF_IS_LIST, "CODE", .is_setting = true,
                             .help = "take no networks that are registered in this country, by its two letters, such "
                                     "as DE; may be repeated"},
    [CONF_REFUSE_SITE] = {"refuse-site", CONF_IS_LIST, "PLACE", .is_setting = true,
                          .help = "never ask anything of example.org, .example.org (with all under it) or "
                                  "https://example.org/a*; may be repeated"},
    [CONF_OWN_SITE] = {"own-site", CONF_IS_LIST, "URL", .is_setting = true,
                       .help = "a site of yours: this agent asks to be the one that crawls it; may be repeated"},
    [CONF_OWN_EVERY] = {"own-every", CONF_IS_DURATION, "TIME", "1d", 60000, INT64_C(31536000000), 1000,
                        .is_setting = true,
                        .help = "look at the pages of your own sites again after TIME: seconds, or 10m, 2h, 1d"},
    [CONF_PLACE] = {"place", CONF_IS_TEXT, "TEXT", .is_setting = true,
                    .help = "where this machine is, in words, for the coordinator's people"},
    [CONF_PROGRAM_KEY] = {"program-key", CONF_IS_LIST, "KEY", .is_setting = true,
                          .help = "run programs that are signed by this public key (base64url); may be repeated; "
                                  "without any no program runs here"},
    [CONF_PDF] = {"pdf", CONF_IS_FLAG, .value = "yes", .is_setting = true,
                  .help =
                      "read PDFs with pdftotext, where poppler-utils is installed, in a process that can do nothing "
                      "else; with --no-pdf that program never runs"},
    [CONF_UPDATE] = {"update", CONF_IS_FLAG, .value = "yes", .is_setting = true,
                     .help = "take a newer orb-agent that is signed by --update-key; --no-update never does"},
    [CONF_UPDATE_KEY] = {"update-key", CONF_IS_TEXT, "KEY", .is_setting = true,
                         .help = "public key (base64url) of those who make releases; without it nothing is updated"},

    [CONF_SITEMAPS] = {"sitemaps", CONF_IS_FLAG, .value = "yes", .is_setting = true,
                       .help = "follow the sitemaps that robots.txt and pages name, and the feeds of pages"},
    [CONF_DELAY] =
        {"delay", CONF_IS_DURATION, "MS", "1000", 0, 86400000, 1, .is_setting = true,
         .help = "pause between two requests to a host, longer where the host is slow; on public addresses under "
                 "250 only for your own sites, or in the lab"},
    [CONF_CONTACT] = {"contact", CONF_IS_TEXT, "TEXT", .is_setting = true,
                      .help = "mail address or URL for site owners, part of the user agent"},
    [CONF_PURPOSE_URL] = {"purpose-url", CONF_IS_TEXT, "URL", .is_setting = true,
                          .help = "page that says what the crawl is for, part of the user agent"},
    [CONF_HOSTS] = {"hosts", CONF_IS_TEXT, "FILE", .is_setting = true,
                    .help = "names looked up in FILE (lines as in /etc/hosts) before DNS"},
    [CONF_RESOLVER] = {"resolver", CONF_IS_TEXT, "ADDR[:PORT]", .is_setting = true,
                       .help = "ask this DNS server instead of the system's"},
    [CONF_CA_FILE] = {"ca-file", CONF_IS_TEXT, "FILE", .is_setting = true,
                      .help = "trust the certificate authorities in FILE (PEM) instead of the system's when fetching"},
    [CONF_SHARDS] = {"shards", CONF_IS_INT, "N", "0", 0, 64, .is_setting = true,
                     .help = "crawling threads; 0 = one a core"},
    [CONF_LOG] = {"log", CONF_IS_TEXT, "FILE", .is_setting = true, .help = "append log lines to FILE"},
    [CONF_LOG_LEVEL] = {"log-level", CONF_IS_CHOICE, "error|warn|info|debug", "info", .is_setting = true,
                        .help = "how much to log"},
    [CONF_QUIET] = {"quiet", CONF_IS_FLAG, .value = "no", .is_setting = true,
                    .help = "no progress line, and only errors on standard error"},
    [CONF_CLOCK_OFFSET] = {"clock-offset", CONF_IS_OFFSET, "MS", "0", -INT64_C(31536000000), INT64_C(31536000000),
                           .is_hidden = true, .help = "tests: the wall clock is so much ahead"},
};
