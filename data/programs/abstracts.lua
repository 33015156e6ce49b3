-- abstracts: search by what a paper says up front: title, headings and the part that is called abstract.
function page(p)
  local parts = { p.title, p.description }
  for _, heading in ipairs(p.headings) do
    if heading.level <= 2 then
      parts[#parts + 1] = heading.text
    end
  end
  local text = p.text:match("\nAbstract\n(.-)\nIntroduction\n") or p.text:sub(1, 500)
  parts[#parts + 1] = text
  emit { has_abstract = p.text:find("\nAbstract\n", 1, true) ~= nil, language = p.language }
  summary(table.concat(parts, "\n"))
end
