/**
 * Script of the reference page: search, and opening the target of a link. The page works without it. Stored as the text
 * that the browser gets, because the page's policy contains its hash.
 */
export const PAGE_SCRIPT = `
const find = document.querySelector('#find')
const found = document.querySelector('#found')
const contents = document.querySelector('#contents')
const entries = [...document.querySelectorAll('main details')].map((entry) => ({ entry, text: entry.textContent.toLowerCase() }))
const groups = [...document.querySelectorAll('section')].reverse()
function search() {
  const words = find.value.toLowerCase().split(/\\s+/).filter(Boolean)
  let count = 0
  for (const { entry, text } of entries) {
    entry.hidden = !words.every((word) => text.includes(word))
    if (!entry.hidden) count++
  }
  for (const group of groups) group.hidden = !group.querySelector('details:not([hidden])')
  found.textContent = words.length === 0 ? '' : count === 1 ? '1 found' : count + ' found'
}
function open() {
  const goal = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const entry = goal && goal.closest('main details')
  if (!entry) return
  find.value = ''
  search()
  entry.open = true
  goal.scrollIntoView()
}
find.parentElement.hidden = false
find.addEventListener('input', search)
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === find) return
  event.preventDefault()
  find.focus()
})
addEventListener('hashchange', open)
const narrow = matchMedia('(max-width: 60rem)')
contents.open = !narrow.matches
contents.addEventListener('click', (event) => { if (narrow.matches && event.target.matches('a')) contents.open = false })
open()
`
