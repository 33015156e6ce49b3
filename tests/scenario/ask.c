/* ask - asks the name server of /etc/resolv.conf with libc's resolver: NAME TYPE. Prints the code, "nxdomain" or "ok",
 * then a line for each answer, as a zone file has it. What it reads is not our reading of our own bytes. */
#include <arpa/nameser.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdio.h>
#include <string.h>

/* libc would have programs use something else, but has nothing else. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static const struct {
    const char *name;
    ns_type type;
} types[] = {{"A", ns_t_a}, {"AAAA", ns_t_aaaa}, {"PTR", ns_t_ptr}, {"LOC", ns_t_loc}};

int main(int argc, char **argv)
{
    unsigned char answer[4096], query[NS_PACKETSZ];
    char line[1024];
    ns_msg msg;
    ns_rr rr;
    ns_type type = ns_t_invalid;
    for (size_t i = 0; argc == 3 && i < sizeof(types) / sizeof(*types); i++) {
        if (strcmp(argv[2], types[i].name) == 0)
            type = types[i].type;
    }
    if (type == ns_t_invalid || res_init() != 0)
        return 2;
    int n = res_mkquery(ns_o_query, argv[1], ns_c_in, (int)type, NULL, 0, NULL, query, sizeof(query));
    if (n > 0)
        n = res_send(query, n, answer, sizeof(answer));
    if (n <= 0 || ns_initparse(answer, n, &msg) != 0)
        return 4;
    int code = ns_msg_getflag(msg, ns_f_rcode);
    printf("%s %d\n",
           code == ns_r_nxdomain  ? "nxdomain"
           : code == ns_r_noerror ? "ok"
                                  : "error",
           ns_msg_count(msg, ns_s_an));
    for (int i = 0; i < ns_msg_count(msg, ns_s_an); i++) {
        if (ns_parserr(&msg, ns_s_an, i, &rr) != 0 || ns_sprintrr(&msg, &rr, NULL, NULL, line, sizeof(line)) < 0)
            return 4;
        puts(line);
    }
    return 0;
}
