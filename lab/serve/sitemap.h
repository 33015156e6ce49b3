/* sitemap.h - the sitemaps of the lab's sites (sitemaps.org), and the robots.txt that names them. Pure; any thread.
 *
 * /sitemap.xml has every page with its last change; a site of more than SITEMAP_URLS pages has an index there, and
 * /sitemap-1.xml and so on with so many each. */
#pragma once

#include "base/buf.h"

#define SITEMAP_URLS 5000

struct sitemap {
    struct span host;
    int port;
    uint32_t count;                                         /* of pages */
    int64_t (*modified_s)(const void *self, uint32_t page); /* seconds since 1970 */
    const void *self;                                       /* borrowed */
};

/* Appends what is at the path; false: no sitemap is. */
bool sitemap_write(const struct sitemap *s, struct span path, struct buf *out);
void sitemap_robots(const struct sitemap *s, struct buf *out);
