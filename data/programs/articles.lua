-- articles: who wrote it, when, and how long it is.
function page(p)
  local author = p.meta.author or p.meta["article:author"] or p.text:match("\nBy (%u[^\n]*)\n")
  local date = p.meta["article:published_time"] or p.meta.date or p.headers["last-modified"]
  local words = select(2, p.text:gsub("%S+", ""))
  if author then
    emit { author = author }
  end
  if date then
    emit { published = date:match("^%d%d%d%d%-%d%d%-%d%d") or date }
  end
  emit { words = words, is_long = words > 1000 }
end
