#include "cli/verb_table.h"

const struct command_verb verb_table[] = {
    {"agent", "add", "NAME",
     "make an agent known, and print the line that starts it on its machine; the line is good for one use within an "
     "hour"},
    {"agent", "list", "", "all agents: state, when last heard, pages, queue, networks"},
    {"agent", "show", "NAME", "everything that is known of one"},
    {"agent", "pause", "NAME", "stop its crawling; its networks stay with it"},
    {"agent", "resume", "NAME", "let it go on"},
    {"agent", "drain", "NAME", "move its networks to others"},
    {"agent", "kill", "NAME", "end its process; it stays ended"},
    {"agent", "remove", "NAME", "make its key worthless, and move its networks to others"},
    {"agent", "invite", "NAME",
     "print another line to join with, where the first has run out or the machine is a new one"},
    {"agent", "change", "NAME", "set what add sets: place, hours and limits"},
    {"agent", "trust", "NAME",
     "give work again to one that was caught telling what cannot be; its pages are checked from the start"},
    {"agent", "rekey", "NAME", "have it make a new key"},
    {"agent", "offer", "FILE",
     "sign FILE, a newer orb-agent, with --key, and offer it to all agents; those whose owners trust that key "
     "(update-key) replace themselves"},

    {"channel", "add", "URL...", "make one channel of the URLs"},
    {"channel", "list", "", "all channels with their ids, agents and pages"},
    {"channel", "show", "ID",
     "everything that is known of one: how often it changes, when it was visited, what came of it"},
    {"channel", "edit", "ID", "change what the options say"},
    {"channel", "import", "FILE", "make a channel of each line of FILE; - is standard input"},
    {"channel", "pause", "ID", "stop crawling it"},
    {"channel", "resume", "ID", "go on"},
    {"channel", "recheck", "ID|all", "look at its pages again now"},
    {"channel", "recrawl", "[STRATEGY]",
     "how fresh all channels are; with greedy, iir, icr, fixed or off, keep them fresh by that from now on"},
    {"channel", "move", "ID AGENT", "move its networks to an agent"},
    {"channel", "remove", "ID", "crawl it no more; its pages stay searchable"},

    {"network", "list", "", "all networks, whose they are, and which agent has each"},
    {"network", "move", "NETWORK AGENT",
     "give a network to another agent, with the states of its pages and its politeness, once the old one has stopped"},
    {"network", "pins", "[FILE]", "show the lines that say who may crawl what; with FILE, replace all of them"},
    {"network", "pin", "LINE",
     "add a line, such as 'site example.org -> agent paris', 'country DE -> group eu', 'holder \"Example Ltd\" -> "
     "group country:CH', 'network 192.0.2.0/24 -> agent lab' or 'all -> group europe'"},
    {"network", "unpin", "LINE", "take a line away"},

    {"program", "run", "FILE URL",
     "try a program on the page at a URL, or on an HTML file, and print what it said: its fields, the URLs it follows, "
     "skip, its summary; robots.txt is obeyed"},
    {"program", "sign", "FILE",
     "print the program with its name, its serial and the signature of --key, as agents want it"},
    {"program", "push", "FILE [AGENT...]",
     "send a signed program to all agents, those that come later included, or to those named"},
    {"program", "status", "[NAME]", "who runs which version, with how many pages and errors"},
    {"program", "rollback", "NAME", "drop the newest version: agents go on with the one before it"},

    {"key", "new", "FILE",
     "make a secret key in a new file that only you may read, and print its public half, which agents are given, and "
     "the fingerprint of that"},
    {"key", "show", "FILE", "print these of a key that is there"},

    {"world", "make", "", "write agents, sites, networks and the round trips between them into a new folder, -o DIR"},

    {"sim", "delegate", "[DIR]",
     "let a strategy choose an agent for every site of a world, and tell how good the choices were and how many probes "
     "they took"},
    {"sim", "place", "[DIR]", "where one more agent would help most, and when more stop helping"},
    {"sim", "recrawl", "[DIR]",
     "keep channels fresh with agents that come and go, by fixed intervals, by intervals that follow the capacity, or "
     "by "
     "what each visit gains, and tell how fresh they were"},
    {"sim", "report", "DIR", "write a page that compares all strategies, with the charts of the papers, into -o FILE"},

    {"lab", "run", "FILE|NAME...", "play scenarios: a world, processes, faults, and what must hold at the end"},
    {"lab", "list", "[DIR]", "scenarios that there are"},
    {"lab", "report", "DIR", "one page with charts, of all results in DIR"},
    {"lab", "results", "DIR", "the same as Markdown tables"},
    {"lab", "shell", "PLACE", "a look into a lab that runs"},
    {"lab", "up", "FILE", "bring a lab up, and run a command in it"},
    {"lab", "show", "WHAT FILE", "what a lab file or a world says"},
    {"lab", "check", "[FILE]", "how well this machine keeps to the round trips"},
    {"lab", "audit", "FILE", "what was asked of the servers, and how politely"},
    {"lab", "help", "", "all commands, with those for the inside of a lab"},

    {"hierarchy", "fetch", "",
     "get the public files of the five address registries and of IANA into a folder; run again it gets only what has "
     "changed, and goes on where it stopped"},
    {"hierarchy", "build", "",
     "make one file of them, or of those named by --in: statistics (delegated, delegated-extended), databases of "
     "objects (inetnum, inet6num, organisation), tables of prefix, country and holder, IANA's tables; plain, gzip or "
     "zstd, in any mix; lines that make no sense are told and skipped"},
    {"hierarchy", "lookup", "[IP...]",
     "the smallest network of each address with its country, registry and holder, and those around it; addresses come "
     "from standard input when there are none"},
    {"hierarchy", "stats", "[FILE]", "verify, count, and show the conditions of the registries whose data it is"},
    {"hierarchy", "diff", "FILE FILE", "networks that are gone, new or changed from the one to the other"},

    {"completion", "bash", "[PROGRAM]", "for ~/.local/share/bash-completion/completions/orb"},
    {"completion", "zsh", "[PROGRAM]", "for a file _orb in a folder of fpath"},
    {"completion", "fish", "[PROGRAM]", "for ~/.config/fish/completions/orb.fish"},
};

const size_t verb_count = sizeof(verb_table) / sizeof(*verb_table);

const struct command_verb *verb_find(const char *command, struct span name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verb_table[i].command, command) == 0 && span_is(name, verb_table[i].name))
            return &verb_table[i];
    return NULL;
}

bool has_verbs(const char *command)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verb_table[i].command, command) == 0)
            return true;
    return false;
}
