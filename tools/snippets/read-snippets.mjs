/**
 * The code blocks of the documents that people follow. The words behind a block's language say what becomes of it:
 * `run` (executed), `settings` (every line read as the gateway's environment), `gateway.yaml` (written, and checked by
 * `sluice apply`), `parse` (only read, because it needs something from outside). Blocks of the pages in `FOLLOWED` may
 * have none: a test of their own follows them. A comment before a block, `<!-- first: … -->`, is run before it.
 */

/** Pages with a test of their own. */
export const FOLLOWED = {
  'docs/guides/add-a-provider.md': 'server/src/providers/guide.test.ts',
  'docs/guides/add-an-endpoint.md': 'server/src/pipeline/kinds/guide.test.ts',
  'docs/operating/organisations.md': 'server/test/journey/organisations-guide.test.ts',
  'docs/operating/alerts.md': 'server/test/customers/alert-guide.test.ts',
}

export const MARKS = ['run', 'settings', 'gateway.yaml', 'parse']

export const isFollowable = (file) => /^(README|docs\/(guides|operating)\/[\w-]+)\.md$/.test(file)

/** @returns {{line: number, language: string, mark: string | undefined, first: string | undefined, text: string}[]} */
export function readSnippets(page) {
  const blocks = page.matchAll(/(?:<!-- first: (.*) -->\n)?^[ ]*```([^\n]*)\n([^]*?)\n[ ]*```$/gm)
  return [...blocks].map(({ 0: whole, 1: first, 2: words, 3: text, index }) => {
    const [language = '', ...marks] = words.split(' ')
    const line = page.slice(0, index + whole.indexOf('```')).split('\n').length
    return { line, language, mark: MARKS.find((mark) => marks.includes(mark)), first, text }
  })
}
