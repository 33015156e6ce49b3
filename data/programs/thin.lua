-- thin: leaves out of the index what nobody searches for: errors, log-in pages, pages of almost no text.
local unwanted = { "log in", "sign in", "page not found", "access denied" }

function page(p)
  local title = p.title:lower()
  for _, words in ipairs(unwanted) do
    if title:find(words, 1, true) then
      return skip()
    end
  end
  if p.status ~= 200 or #p.text < 200 then
    skip()
  end
end
