#include "cli/command.h"

const struct command command_table[] = {
    {"crawl", cmd_crawl, CMD_CRAWL, GROUP_MAIN, "URL...", 0, SIZE_MAX, "crawl sites into a data folder",
     "Fetches the pages at the URLs and what they link to, politely, into a data folder. It may be stopped or killed "
     "at "
     "any moment: the same command again goes on where it was, and once a crawl is finished looks for changes. A URL "
     "without a scheme gets https://, or http:// for localhost and private addresses."},
    {"status", cmd_status, CMD_STATUS, GROUP_MAIN, "", 0, 0, "show what a data folder holds and whether a crawl runs",
     "Counts of pages by outcome, what waits and why, disk use. Works while a crawl runs."},
    {"explain", cmd_explain, CMD_EXPLAIN, GROUP_MAIN, "URL", 1, 1, "tell what happened to a URL, and why",
     "Who has it, when it is due, what the last fetch did and how long each part took, or which rule refused it. Works "
     "while a crawl runs. Exit code 1 when the folder knows nothing of the URL."},
    {"export", cmd_export, CMD_EXPORT, GROUP_MAIN, "", 0, 0, "list the pages of a data folder",
     "Every page fetched with 2xx, in order of first visit, as JSON lines or CSV. Works while a crawl runs: what it "
     "lists "
     "is one moment of the folder."},
    {"search", cmd_search, CMD_SEARCH, GROUP_MAIN, "WORD...", 1, SIZE_MAX, "find pages in a data folder",
     "Shows the pages that have all the words, the best first. a OR b is either, -a without a, '\"some words\"' next "
     "to "
     "each other in this order: the shell takes one pair of quotes away, so a phrase needs two. site:HOST, lang:en, "
     "title:WORD, url:WORD, field:NAME=VALUE, after:2024-05 and before:2024 narrow it down. Works while a crawl runs. "
     "Exit code 1 when "
     "no "
     "page is found."},
    {"serve", cmd_serve, CMD_SERVE, GROUP_MAIN, "", 0, 0, "search a data folder in the browser",
     "Serves the search page, its JSON API, a status page with charts, metrics for Prometheus and a page for site "
     "owners, on this machine only unless --listen says else. Prints its address and runs until it is stopped. Pages "
     "that a running crawl finds can be searched within seconds."},
    {"check", cmd_check, CMD_CHECK, GROUP_MAIN, "", 0, 0, "verify a data folder, and repair it",
     "Reads everything: the texts of all pages, and the whole index with its checksums, order, counts and bounds, and "
     "compares both with the page table. A damaged index is made anew from the stored pages; a page whose text is lost "
     "is fetched again by the next crawl. While a crawl runs only the index is checked and nothing is changed. Exit "
     "code 1 when something is wrong and was not repaired."},
    {"coordinator", cmd_coordinator, CMD_COORDINATOR, GROUP_MAIN, "", 0, 0,
     "let agents elsewhere crawl into a data folder",
     "Gives agents (orb-agent) their tasks, takes in what they found, and serves searches over it, until it is "
     "stopped. "
     "The first start makes its keys; the first visit to the administration sets a password. Channels say what is "
     "crawled (orb channel add), agents are made known with orb agent add."},
    {"agent", cmd_agent, CMD_AGENT, GROUP_MAIN, "VERB [NAME]", 1, 2,
     "register and administer the agents of a coordinator",
     "The verbs are add, list, show, pause, resume, drain, kill, remove, invite, change, rekey and offer. add NAME "
     "prints the "
     "line that starts the agent on its machine; the line is good for one use within an hour, and "
     "invite NAME makes another. pause stops its crawling, drain moves its networks to others, kill ends the process, "
     "remove makes its key worthless. change takes the options that add takes. offer FILE signs a newer orb-agent with "
     "--key and offers it to all agents; those whose owners allow that key (release-key) replace themselves. The "
     "coordinator of the folder must run."},
    {"channel", cmd_channel, CMD_CHANNEL, GROUP_MAIN, "VERB [ARG...]", 1, SIZE_MAX,
     "say what a coordinator's agents crawl",
     "The verbs are add, list, edit, import, pause, resume, recheck, move and remove. add URL... makes one channel of "
     "the "
     "URLs; import FILE makes one of each line; edit ID, pause ID, resume ID, "
     "recheck ID, remove ID; move ID AGENT moves its networks. The coordinator of the folder must run."},
    {"network", cmd_network, CMD_NETWORK, GROUP_MAIN, "list|move [NETWORK AGENT]", 1, 3,
     "show and move the networks that agents have",
     "Each network is crawled by one agent. move NETWORK AGENT gives it to another, with the states of its pages and "
     "its politeness, once the old one has stopped. The coordinator of the folder must run."},
    {"demo", cmd_demo, CMD_DEMO, GROUP_MAIN, "", 0, 0, "crawl a sample web, and search it in the browser",
     "Serves made-up sites on a free loopback port, crawls them into a temporary folder, compares what was found with "
     "what is there, and serves the search page over it on 127.0.0.1:8080, or the next free port, until it is stopped. "
     "Touches no network but loopback. --data keeps the folder, which must be new; --check asks the page itself and "
     "ends."},

    {"program", cmd_program, CMD_PROGRAM, GROUP_PLUMBING, "VERB [ARG...]", 1, SIZE_MAX,
     "try a program on one page, sign it, send it to agents",
     "The verbs are run FILE URL, sign FILE, push FILE [AGENT...], status [NAME] and rollback NAME. run tries a Lua "
     "program (docs/programs.md) on the page at a URL, or on an HTML file, and prints what it said: "
     "its "
     "fields, the URLs it follows, skip, its summary. robots.txt is obeyed. sign prints the program with its name, its "
     "serial and the signature of --key, as agents want it. push FILE [AGENT...] sends a signed program to all agents, "
     "or to those named; status [NAME] shows who runs which version; rollback NAME drops the newest version: agents go "
     "on with the one before it. For these three the coordinator of the folder must run. Exit code 3 when the program "
     "has an error."},
    {"key", cmd_key, CMD_KEY, GROUP_PLUMBING, "new | show FILE", 1, 2,
     "make a key that signs programs or releases, or show one",
     "new --program FILE, or new FILE, makes a secret key in a new file that only you may read; show FILE prints its "
     "public half, which agents are given, and the fingerprint of that."},
    {"url", cmd_url, CMD_URL, GROUP_PLUMBING, "[BASE] URL | -", 1, 2, "parse a URL, or resolve one against a base",
     "Prints the URL as the WHATWG standard serialises it, or `failure` with exit code 3. With - reads lines `URL` or "
     "`BASE<tab>URL` from standard input and answers each with a line."},
    {"robots", cmd_robots, CMD_ROBOTS, GROUP_PLUMBING, "FILE AGENT URL...", 3, SIZE_MAX,
     "ask a robots.txt file about URLs",
     "Prints `allow` or `disallow` for each URL or path; exit code 0 when all are allowed, 1 when not. AGENT is a "
     "product "
     "token or a whole User-Agent line. FILE may be - for standard input."},
    {"links", cmd_links, CMD_LINKS, GROUP_PLUMBING, "FILE", 1, 1, "list the links of an HTML file",
     "One absolute URL a line, in the order of the page; --base URL is needed. FILE may be - for standard input."},
    {"text", cmd_text, CMD_TEXT, GROUP_PLUMBING, "FILE", 1, 1, "print the visible text of an HTML file",
     "The text as the crawler sees it, a line a block; with --json title, language, character set, headings and digest "
     "too. FILE may be - for standard input."},

    {"config", cmd_config, CMD_CONFIG, GROUP_ABOUT, "", 0, 0, "show the settings in effect and where they come from",
     "Options given to this command count, so `orb config --delay 0` shows what a crawl with that option would use. A "
     "setting comes from the command line, else from the environment (ORB_DELAY), else from the config file, else from "
     "its default."},
    {"help", cmd_help, CMD_HELP, GROUP_ABOUT, "[COMMAND]", 0, 1, "show help", "See also orb(1), the manual page."},
};

const size_t command_count = sizeof(command_table) / sizeof(*command_table);

const struct command *command_find(struct span name)
{
    for (size_t i = 0; i < command_count; i++)
        if (span_is(name, command_table[i].name))
            return &command_table[i];
    return NULL;
}
