-- next-pages: goes on through numbered pages that are reached by a script, and so have no link: ?page=1, ?page=2, ...
local last = 50

function page(p)
  local before, number, after = p.url:match("^(.*[?&]page=)(%d+)(.*)$")
  if number and tonumber(number) < last and #p.links > 0 then
    follow(before .. (tonumber(number) + 1) .. after)
  end
  for _, link in ipairs(p.links) do
    if link.text:lower() == "older posts" and not link.rel:find("nofollow", 1, true) then
      follow(link.url)
    end
  end
end
