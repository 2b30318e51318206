/**
 * Runs in a page of the console before anything of it: notes what moves and what keeps the page from answering, and times
 * what a person waits for, from the click to the frame that shows it.
 */
const ON_ITS_WAY = '.mantine-Skeleton-root, [data-loading]'

/** Ms since the page was asked for, and the sum of layout shifts. */
const seen = { shift: 0, largestMs: 0, restMs: 0, longestTaskMs: 0, blockedMs: 0 }
/** What a task may take before it counts as blocking. */
const TASK_MS = 50

performance.setResourceTimingBufferSize(10_000)
watch('layout-shift', ({ hadRecentInput, value }) => {
  if (!hadRecentInput) seen.shift += value
})
watch('largest-contentful-paint', ({ startTime }) => {
  seen.largestMs = startTime
})
watch('longtask', ({ duration }) => {
  seen.longestTaskMs = Math.max(seen.longestTaskMs, duration)
  seen.blockedMs += duration - TASK_MS
})

/** What is waited for, by name; `before` and `head` are what `rowsInSight` and `headInSight` were at the click. */
const ENDS = {
  page: ({ path, head }) => rests(path) && headInSight() !== head,
  rows: ({ path, before }) =>
    isAt(path ?? location.pathname) && rowsInSight() !== '' && rowsInSight() !== before,
  sheet: () => document.querySelector('[role="dialog"] h2') !== null,
}

globalThis.consoleProbe = {
  seen,
  /** Resolves when the page that was asked for is there. */
  atRest: noteRest(),
  firstPaintMs: () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
  /** Clicks, and resolves to the ms until the frame after the one in which the wanted state was there. */
  async timed({ click, says, until, path }) {
    const element = [...document.querySelectorAll(click)].find(
      ({ textContent }) => says === undefined || textContent === says,
    )
    if (element === undefined) throw new Error(`nothing to click: ${click}`)
    const before = rowsInSight()
    const head = headInSight()
    const startedAt = performance.now()
    element.click()
    await reached(() => ENDS[until]({ before, head, path }), `${click} until ${until}`)
    return performance.now() - startedAt
  },
  /** Scrolls from the top to the end, a bit in each frame; resolves to the ms of the longest frame. */
  async scrolled() {
    let longest = 0
    window.scrollTo({ top: 0, behavior: 'instant' })
    await frame()
    let last = await frame()
    for (let top = 0; top < document.documentElement.scrollHeight; top += 40) {
      window.scrollTo({ top, behavior: 'instant' })
      const now = await frame()
      longest = Math.max(longest, now - last)
      last = now
    }
    window.scrollTo({ top: 0, behavior: 'instant' })
    return longest
  },
  /** Where the frame leads to, each place once. */
  links: () => [...new Set([...document.querySelectorAll('nav a')].map((link) => link.getAttribute('href')))],
  /** Ms of each answer whose address holds this, since the page was loaded. */
  answers: (address) =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.includes(address))
      .map(({ duration }) => duration),
}

function watch(type, note) {
  new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true })
}

async function noteRest() {
  await reached(() => rests(location.pathname), 'the page at rest')
  seen.restMs = performance.now()
}

function frame() {
  return new Promise((resolve) => requestAnimationFrame(resolve))
}

async function reached(holds, what) {
  const until = performance.now() + 30_000
  while (!holds()) {
    if (performance.now() > until) throw new Error(`never came: ${what}`)
    await frame()
  }
  await frame()
}

/** The page there has its heading, and nothing of it is on its way. */
function rests(path) {
  return isAt(path) && headInSight() !== '' && document.querySelector(ON_ITS_WAY) === null
}

function isAt(path) {
  return location.pathname.replace(/\/$/, '') === path.replace(/\/$/, '')
}

function headInSight() {
  return document.querySelector('main h1')?.textContent ?? ''
}

/** What the rows say, without their times, which change by themselves. */
function rowsInSight() {
  return [...document.querySelectorAll('tbody tr')]
    .map((row) =>
      [...row.cells]
        .slice(1)
        .map((cell) => cell.textContent)
        .join('|'),
    )
    .join('\n')
}
