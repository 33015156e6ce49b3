#include "io/zones.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "place/zone.h"

#define ZONES_FOLDER "/usr/share/zoneinfo"
#define ZONES_MAX 1024 /* there are some 600 */

struct known_zone {
    struct known_zone *next;
    struct zone *zone; /* NULL: there is none of this name */
    char name[ZONE_NAME_MAX];
};

/* Kept as long as the process: an agent's hours are asked for every second. */
static struct known_zone *zones;
static unsigned zone_count;
static pthread_mutex_t zones_lock = PTHREAD_MUTEX_INITIALIZER;

static struct zone *read_zone(const char *name)
{
    struct buf path = {0};
    struct zone *z = NULL;
    buf_printf(&path, "%s/%s", ZONES_FOLDER, name);
    FILE *f = fopen(buf_cstr(&path), "re");
    if (f) {
        char *bytes = mem_alloc(ZONE_FILE_MAX);
        size_t n = fread(bytes, 1, ZONE_FILE_MAX, f);
        if (n == 0 || ferror(f) || zone_new(span_of(bytes, n), &z) != ST_OK)
            z = NULL;
        free(bytes);
        fclose(f);
    }
    buf_done(&path);
    return z;
}

static const struct zone *find(const char *name)
{
    if (!zone_name_is_good(span_str(name)) || strlen(name) >= ZONE_NAME_MAX)
        return NULL;
    pthread_mutex_lock(&zones_lock);
    struct known_zone *k = zones;
    while (k && strcmp(k->name, name) != 0)
        k = k->next;
    if (!k && zone_count < ZONES_MAX) {
        k = mem_alloc(sizeof(*k));
        strcpy(k->name, name);
        k->zone = read_zone(name);
        k->next = zones;
        zones = k;
        zone_count++;
    }
    pthread_mutex_unlock(&zones_lock);
    return k ? k->zone : NULL;
}

bool zone_is_known(const char *name)
{
    return find(name) != NULL;
}

int32_t zone_offset_of(const char *name, wall_ms at)
{
    const struct zone *z = name[0] ? find(name) : NULL;
    return z ? zone_offset(z, at) : 0;
}
