#include "cli/command.h"

const struct command command_table[] = {
    {"crawl", cmd_crawl, CMD_CRAWL, GROUP_MAIN, "URL...", 0, SIZE_MAX, "crawl sites into a data folder",
     "Fetches the pages at the URLs and what they link to, politely, into a data folder. It may be stopped or killed "
     "at "
     "any moment: the same command again goes on where it was, and once a crawl is finished looks for changes. A URL "
     "without a scheme gets https://, or http:// for localhost and private addresses."},
    {"import", cmd_import, CMD_IMPORT, GROUP_MAIN, "FILE...", 1, SIZE_MAX, "read web archives into a data folder",
     "Takes the answers in WARC and ARC files, plain, gzip or zstd, and in WACZ files, as if they had been crawled at "
     "their dates: pages can be searched, new links wait for the next crawl, and once those are followed a crawl asks "
     "known pages for changes. "
     "FILE may be a folder, or - for standard input. The newest visit of a page counts, so the same files again change "
     "nothing, but bring what is missing: PDFs that nothing could read then, texts that were lost. Nothing is fetched, "
     "and robots.txt is not asked: somebody else did the crawling. What pages say for "
     "themselves (noindex, nofollow) is obeyed, and what is forgotten (orb-forget(1)) or on the list of --opt-out "
     "stays out. Exit code 1 when something in the files was bad and left out, 3 when "
     "none is an archive."},
    {"status", cmd_status, CMD_STATUS, GROUP_MAIN, "", 0, 0, "show what a data folder holds and whether a crawl runs",
     "Counts of pages by outcome, what waits and why, disk use. Works while a crawl runs."},
    {"explain", cmd_explain, CMD_EXPLAIN, GROUP_MAIN, "URL", 1, 1, "tell what happened to a URL, and why",
     "Who has it, when it is due, what the last fetch did and how long each part took, or which rule refused it. In "
     "the "
     "folder of a coordinator also where the site is, which agent has it and why, what was measured, and what would "
     "change that; with a coordinator that is stopped, what the folder knows. Works "
     "while a crawl runs. Exit code 1 when the folder knows nothing of the URL."},
    {"export", cmd_export, CMD_EXPORT, GROUP_MAIN, "", 0, 0, "list the pages of a data folder",
     "Every page fetched with 2xx, in order of first visit, as JSON lines or CSV. Works while a crawl runs: what it "
     "lists "
     "is one moment of the folder."},
    {"search", cmd_search, CMD_SEARCH, GROUP_MAIN, "WORD...", 1, SIZE_MAX, "find pages in a data folder",
     "Shows the pages that have all the words, the best first. a OR b is either, -a without a, '\"some words\"' next "
     "to "
     "each other in this order: the shell takes one pair of quotes away, so a phrase needs two. site:HOST, lang:en, "
     "type:pdf, "
     "title:WORD, url:WORD, field:NAME=VALUE, after:2024-05 and before:2024 narrow it down. Works while a crawl runs. "
     "Exit code 1 when "
     "no "
     "page is found."},
    {"serve", cmd_serve, CMD_SERVE, GROUP_MAIN, "", 0, 0, "search a data folder in the browser",
     "Serves the search page, its JSON API, a status page with charts, metrics for Prometheus and a page for site "
     "owners, on this machine only unless --listen says else. Prints its address and runs until it is stopped. Pages "
     "that a running crawl finds can be searched within seconds."},
    {"check", cmd_check, CMD_CHECK, GROUP_MAIN, "[FILE]", 0, 1, "verify a data folder, and repair it; or a backup",
     "Reads everything: the database, the texts of all pages, the whole index with its checksums, order, counts and "
     "bounds, compared with the page table, and what a crawl goes on from. A damaged index is made anew from the "
     "stored "
     "pages; a page whose text is lost is fetched again by the next crawl; a damaged checkpoint, queue or journal is "
     "given "
     "up, "
     "and the next crawl finds again what it held. Addresses and keys of pages that a disk has changed are put right "
     "as far as texts and tables know them; a database that is damaged otherwise cannot be repaired: restore a backup. "
     "While a "
     "crawl runs only the index is checked and nothing is changed. With "
     "FILE "
     "the checksums of a backup are verified. Exit "
     "code 1 when something is wrong and was not repaired."},
    {"forget", cmd_forget, CMD_FORGET, GROUP_MAIN, "PLACE...", 0, SIZE_MAX, "take pages out of a data folder, for good",
     "PLACE is a page (https://example.org/a), everything that begins like it (https://example.org/a*), a host "
     "(example.org, example.org:8080) or a domain with all under it (.example.org). Pages go from the page table, the "
     "texts, the index and what waits; nothing of them is left in the files of the folder, nor, with --warc, in those "
     "of "
     "that folder. The places are remembered: no crawl, link, seed or agent brings them back, until --undo. While a "
     "crawl "
     "runs the folder is in use: exit code 4; a coordinator that runs does it itself."},
    {"prune", cmd_prune, CMD_PRUNE, GROUP_MAIN, "", 0, 0, "take old pages out of a data folder, and win space",
     "Takes pages out that are past --keep-gone or --keep-days, writes the files of texts and index anew that have "
     "something of the past, removes what a killed command left, and writes the database anew; with --warc it removes "
     "WARC "
     "files past --keep-warc and --keep-warc-days too. Prints what was won. A coordinator applies the same settings "
     "once a "
     "day."},
    {"backup", cmd_backup, CMD_BACKUP, GROUP_MAIN, "FILE|DIR", 1, 1, "copy a data folder to one file",
     "Writes the folder as it is at one moment to FILE, a tar archive compressed with zstd that other tools can unpack "
     "too, or to a new file in DIR, or to standard output where FILE is -. Works while a crawl or a coordinator runs. "
     "The file is for its owner alone: that "
     "of a "
     "coordinator has its keys. --no-index leaves the index out, which is made anew when the backup is restored. orb "
     "check "
     "FILE verifies it."},
    {"restore", cmd_restore, CMD_RESTORE, GROUP_MAIN, "FILE DIR", 2, 2, "make a data folder from a backup",
     "Verifies the checksums of FILE, unpacks it to DIR, which must be new or empty, and checks the folder as orb "
     "check "
     "does. A coordinator that runs on a restored folder gets from its agents what came after the backup, as far as "
     "they "
     "still have it. Exit code 3 when the backup is damaged."},
    {"coordinator", cmd_coordinator, CMD_COORDINATOR, GROUP_MAIN, "", 0, 0,
     "let agents elsewhere crawl into a data folder",
     "Gives agents (orb-agent) their tasks, takes in what they found, and serves searches over it, until it is "
     "stopped. "
     "The first start makes its keys; the first visit to the administration sets a password. Channels say what is "
     "crawled (orb channel add), agents are made known with orb agent add."},
    {"agent", cmd_agent, CMD_AGENT, GROUP_MAIN, "VERB [NAME]", 1, 2,
     "register and administer the agents of a coordinator",
     "Makes agents known to the coordinator of the folder, which must run, and administers them."},
    {"channel", cmd_channel, CMD_CHANNEL, GROUP_MAIN, "VERB [ARG...]", 1, SIZE_MAX,
     "say what a coordinator's agents crawl",
     "A channel is what is crawled: some start pages, and which links from them belong to it. The coordinator of the "
     "folder must run."},
    {"network", cmd_network, CMD_NETWORK, GROUP_MAIN, "VERB [ARG...]", 1, 3,
     "show and move the networks that agents have, say who may have which",
     "Each network is crawled by one agent. Pins say who may crawl what: the most precise one that is about a network "
     "decides, and networks move where they have to. The coordinator of the folder must run."},
    {"nearest", cmd_nearest, CMD_NEAREST, GROUP_MAIN, "IP...", 1, 100, "which agent is nearest to an address",
     "Asks the coordinator of the folder, which must run, what it knows: the agent that has the address's network or "
     "would get it now, the round trip that is expected, the chance that no agent is more than 5 ms nearer, and why. "
     "Nothing is probed."},
    {"demo", cmd_demo, CMD_DEMO, GROUP_MAIN, "", 0, 0, "crawl a sample web, and search it in the browser",
     "Serves made-up sites on a free loopback port, crawls them into a temporary folder, compares what was found with "
     "what is there, and serves the search page over it on 127.0.0.1:8080, or the next free port, until it is stopped. "
     "Touches no network but loopback. --data keeps the folder, which must be new; --check asks the page itself and "
     "ends."},

    {"program", cmd_program, CMD_PROGRAM, GROUP_PLUMBING, "VERB [ARG...]", 1, SIZE_MAX,
     "try a program on one page, sign it, send it to agents",
     "A program is a Lua script (docs/programs.md) that agents run on pages. run and sign work alone; for push, status "
     "and rollback the coordinator of the folder must run. Exit code 3 when the program has an error."},
    {"key", cmd_key, CMD_KEY, GROUP_PLUMBING, "VERB [FILE]", 1, 2,
     "make a key that signs programs or releases, or show one",
     "Programs and new versions of orb-agent are signed; agents are given the public keys that they trust."},
    {"url", cmd_url, CMD_URL, GROUP_PLUMBING, "[BASE] URL | -", 1, 2, "parse a URL, or resolve one against a base",
     "Prints the URL as the WHATWG standard serialises it, or `failure` with exit code 3. With - reads lines `URL` or "
     "`BASE<tab>URL` from standard input and answers each with a line."},
    {"robots", cmd_robots, CMD_ROBOTS, GROUP_PLUMBING, "FILE AGENT URL...", 3, SIZE_MAX,
     "ask a robots.txt file about URLs",
     "Prints `allow` or `disallow` for each URL or path; exit code 0 when all are allowed, 1 when not. AGENT is a "
     "product "
     "token or a whole User-Agent line. FILE may be - for standard input."},
    {"probe", cmd_probe, CMD_PROBE, GROUP_PLUMBING, "URL|HOST...", 1, SIZE_MAX, "measure round-trip times to hosts",
     "Prints a line a target: the address that was reached, how many samples came, and the least and the median round "
     "trip. A refused connection is a round trip too. For a HEAD request the time of the server is told apart from the "
     "path; robots.txt is asked first, and a path that it does not allow is not asked for. ICMP works where the system "
     "lets ordinary users send it. Exit code 1 when robots.txt or an address rule says no, or only some targets "
     "answered."},
    {"world", cmd_world, CMD_WORLD, GROUP_PLUMBING, "VERB", 1, 1, "make a world to simulate in",
     "Places are cities; a round trip is the distance at the speed of light in fibre, times a factor of the two "
     "countries, and what access lines add. With --matrix the round trips are somebody's measurements. The same seed "
     "gives the same world everywhere (docs/formats/world.md)."},
    {"sim", cmd_sim, CMD_SIM, GROUP_PLUMBING, "VERB [DIR]", 1, 2, "play delegation and recrawling",
     "Plays the decisions of a coordinator on a world (orb world make), with the code that the coordinator runs. DIR "
     "is the world, or --world; recrawl needs none."},
    {"lab", cmd_lab, CMD_LAB, GROUP_PLUMBING, "VERB [ARG...]", 0, SIZE_MAX,
     "an internet on one machine: play scenarios in it",
     "Real processes in network namespaces, with a router between them that delays every packet as a world says. Needs "
     "no root and leaves nothing behind; nothing in it reaches another machine. It is orb-lab, which stands beside "
     "this program and has options of its own: see orb-lab(1) and docs/lab.md."},
    {"hierarchy", cmd_hierarchy, CMD_HIERARCHY, GROUP_PLUMBING, "VERB [ARG...]", 1, SIZE_MAX,
     "tell which network an address is in, and whose it is",
     "A hierarchy is one file made of what the address registries publish: which ranges are registered, nested by "
     "containment, with holder, country, registry and status. Exit code 1 when an address is in no network, two "
     "hierarchies differ, or not every file could be fetched."},
    {"warc", cmd_warc, CMD_WARC, GROUP_PLUMBING, "FILE...", 1, SIZE_MAX, "list the records of web archives",
     "One line a record of WARC or ARC files, or of those in WACZ files: type, date, HTTP status, length, whether it "
     "is whole, whether its digests are right, address; with tabs between. What is wrong is told on standard error. "
     "Exit code 1 when something is, 3 when a file is no archive. FILE may be a folder, or - for standard input."},
    {"links", cmd_links, CMD_LINKS, GROUP_PLUMBING, "FILE", 1, 1, "list the links of an HTML or Markdown file",
     "One absolute URL a line, in the order of the page; --base URL is needed. FILE may be - for standard input; one "
     "whose name ends in .md is Markdown."},
    {"text", cmd_text, CMD_TEXT, GROUP_PLUMBING, "FILE", 1, 1, "print the visible text of an HTML or Markdown file",
     "The text as the crawler sees it, a line a block; with --json title, language, character set, headings and digest "
     "too. FILE may be - for standard input; one whose name ends in .md is Markdown."},
    {"sitemap", cmd_sitemap, CMD_SITEMAP, GROUP_PLUMBING, "FILE", 1, 1, "list what a sitemap or a feed lists",
     "A sitemap, an index of sitemaps, RSS, Atom, JSON Feed or a text with a URL a line, plain or gzip. A line an "
     "entry: page, "
     "alternate (a page in another language) or list (another sitemap), its URL, and when it last changed or -. --base "
     "makes relative URLs absolute. FILE may be - for standard input. Exit code 1 when it is no list."},

    {"config", cmd_config, CMD_CONFIG, GROUP_ABOUT, "", 0, 0, "show the settings in effect and where they come from",
     "Options given to this command count, so `orb config --delay 0` shows what a crawl with that option would use. A "
     "setting comes from the command line, else from the environment (ORB_DELAY), else from the config file, else from "
     "its default. Where XDG_CONFIG_HOME is set, that folder takes the place of ~/.config."},
    {"completion", cmd_completion, CMD_COMPLETION, GROUP_ABOUT, "SHELL [PROGRAM]", 1, 2,
     "print a script that completes commands and options in a shell",
     "SHELL is bash, zsh or fish; PROGRAM is orb, or orb-agent. Packages and make install put the scripts where shells "
     "look for them; this is for everybody else. To try it at once: `source <(orb completion bash)`, or `orb "
     "completion "
     "fish | source`."},
    {"help", cmd_help, CMD_HELP, GROUP_ABOUT, "[COMMAND [VERB]]", 0, 2, "show help",
     "Without a command, what commands there are; with a verb of the command, what concerns that verb alone. The "
     "manual pages have the same texts with examples: orb(1), and one "
     "for each command, such as orb-crawl(1)."},
};

const size_t command_count = sizeof(command_table) / sizeof(*command_table);

const struct command *command_find(struct span name)
{
    for (size_t i = 0; i < command_count; i++)
        if (span_is(name, command_table[i].name))
            return &command_table[i];
    return NULL;
}
