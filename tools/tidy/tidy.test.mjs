/** Each check of the tree finds what it is there for, and leaves alone what is right. */
import { describe, expect, test } from 'vitest'
import { memoryTree } from '../project/tree.mjs'
import { checkCitations } from './citations.mjs'
import { checkCorePurity } from './core-purity.mjs'
import { checkDecisions } from './decisions.mjs'
import { checkDocLinks } from './doc-links.mjs'
import { checkForeignPlaces } from './foreign-places.mjs'
import { checkLightStarts } from './light-starts.mjs'
import { checkLock } from './lock.mjs'
import { checkNames } from './names.mjs'
import { checkNarrowHands } from './narrow-hands.mjs'
import { checkModuleReadmes } from './module-readmes.mjs'
import { checkRetiredWords } from './retired-words.mjs'
import { checkSideTables } from './side-tables.mjs'
import { checkSilencing } from './silencing.mjs'
import { checkSizes } from './size-records.mjs'
import { checkSnippets } from './snippets.mjs'
import { checkVendorNames } from './vendor-names.mjs'

const README = '# module\n\n## Owns\n## Does not own\n## Invariants\n## Start reading at\n'
const linesOf = (count) => Array.from({ length: count }, (_, at) => `  const line${at} = ${at}`).join('\n')

const WRONG = [
  ['a link to a file that is gone', checkDocLinks, { 'docs/a.md': 'see [the start](../server/gone.md)' }],
  ['a path in backticks that is gone', checkDocLinks, { 'docs/a.md': 'see `server/src/gone.ts`' }],
  [
    'a path beside one that a command makes',
    checkDocLinks,
    { '.gitignore': '/server/dist/\n', 'docs/a.md': 'see `server/distant.js`' },
  ],
  ['a citation of a page that is gone', checkCitations, { 'tools/a.mjs': '// see docs/gone.md#start' }],
  [
    'a citation of a place that is gone',
    checkCitations,
    { 'tools/a.mjs': '// as docs/a.md#second', 'docs/a.md': '## First' },
  ],
  [
    'a second place that is gone',
    checkCitations,
    { 'tools/a.mjs': '/** Held (docs/a.md#a-1, #a-3). */', 'docs/a.md': '| a-1 | x |\n| a-2 | y |' },
  ],
  [
    'a link to a heading that is gone',
    checkCitations,
    { 'docs/a.md': '[it](b.md#second)', 'docs/b.md': '## First' },
  ],
  [
    'a test that cites what is gone',
    checkCitations,
    { 'tools/a.test.mjs': "test('it holds (docs/a.md#b)')" },
  ],
  ['a file that is gone', checkCitations, { 'tools/a.mjs': '/** As `http/gone.ts` does. */' }],
  ['a paragraph of notes', checkCitations, { 'tools/a.mjs': '/** Empty (reference §1.2). */' }],
  ['a paragraph of the contract', checkCitations, { 'tools/a.mjs': '// Contract §8: slots live 600 s' }],
  ['a trap by its number', checkCitations, { 'tools/a.test.mjs': "test('trap 9: an empty call')" }],
  ['a design that is elsewhere', checkCitations, { 'tools/a.mjs': '/** Plain data (design: Storage). */' }],
  ['decisions that are elsewhere', checkCitations, { 'tools/a.mjs': ' * held back (decisions, Money).' }],
  ['a place cut off from its page', checkCitations, { 'tools/a.mjs': ' * #8-07) frees a slot.' }],
  ['all the decisions', checkCitations, { 'tools/a.mjs': '/** Decisions, Accounts: six digits. */' }],
  ['a code block that nobody follows', checkSnippets, { 'docs/guides/a.md': '```sh\nsluice\n```\n' }],
  ['a file called utils', checkNames, { 'server/src/http/url-utils.ts': '' }],
  ['a folder called common', checkNames, { 'server/src/common/price.ts': '' }],
  ['a function that helps', checkNames, { 'server/src/http/a.ts': 'export function parseHelper() {}' }],
  ['a parameter cut short', checkNames, { 'server/src/http/a.ts': 'const send = (req: string) => req' }],
  ['a vendor in a text', checkVendorNames, { 'server/src/pipeline/a.ts': "if (kind === 'openai') send()" }],
  ['a vendor in a name', checkVendorNames, { 'server/src/pipeline/a.ts': 'const deepseekUrl = 1' }],
  ['a retired word in a text', checkRetiredWords, { 'docs/a.md': 'the back office' }],
  ...[
    'the house',
    'rooms',
    'a room of its own',
    'walls',
    'behind this wall',
    'floors',
    'the floor below',
    'corridors',
    'by a door',
    'leaves by one of two',
    'the calculators',
    'a film',
    '40 letters',
    'lettersMax',
    'a crew',
    'the roster',
    'a dear field',
    'through an account’s eyes',
    'two seats',
    'nonsense',
  ].map((text) => [`the retired words of "${text}"`, checkRetiredWords, { 'docs/a.md': text }]),
  ['one on a reference page', checkRetiredWords, { 'docs/reference/errors.md': 'the back office' }],
  ['a retired word in a name', checkRetiredWords, { 'server/src/http/a.ts': 'export const openHouse = 1' }],
  ['a module without README', checkModuleReadmes, { 'server/src/http/a.ts': '' }],
  [
    'a module README without a head',
    checkModuleReadmes,
    { 'server/src/http/README.md': README.replace('## Invariants', '') },
  ],
  [
    'a module README that is a book',
    checkModuleReadmes,
    { 'server/src/http/README.md': README + '\nmore'.repeat(40) },
  ],
  [
    'a function that outgrew the screen',
    checkSizes,
    { 'server/src/http/a.ts': `function long() {\n${linesOf(60)}\n}` },
  ],
  [
    'a part of a page that outgrew the screen',
    checkSizes,
    { 'console/src/keys/a.tsx': `function Long() {\n${linesOf(60)}\n  return <b />\n}` },
  ],
  ['a long file that does not say why', checkSizes, { 'server/src/http/a.ts': linesOf(500) }],
  ['core that waits', checkCorePurity, { 'server/src/core/a.ts': 'export async function price() {}' }],
  [
    'core that looks at the clock',
    checkCorePurity,
    { 'server/src/core/a.ts': 'export const now = () => new Date()' },
  ],
  [
    'core that loads while it runs',
    checkCorePurity,
    { 'server/src/core/a.ts': "export const load = () => import('./b.ts')" },
  ],
  ['a type error told to be quiet', checkSilencing, { 'server/src/a.ts': '// @ts-ignore\nlet a = 1' }],
  [
    'a rule silenced without a reason',
    checkSilencing,
    { 'server/src/a.ts': '// oxlint-disable-next-line no-console' },
  ],
  [
    'a test that switches off the others',
    checkSilencing,
    { 'server/src/a.test.ts': "test.only('x', () => {})" },
  ],
  [
    'a stage that takes the whole pipeline',
    checkNarrowHands,
    { 'server/src/pipeline/stages/a.ts': 'export const a = (pipeline: Pipeline): void => undefined' },
  ],
  [
    'a field that keeps the whole pipeline, once there is one',
    checkNarrowHands,
    { 'server/src/pipeline/a.ts': 'class A { #pipeline: Pipeline | undefined }' },
  ],
  [
    'a table beside the code that fills it',
    checkSideTables,
    { 'server/src/pipeline/a.ts': 'const known = new WeakMap<object, string>()' },
  ],
  ['a variable of a module', checkSideTables, { 'server/src/pipeline/a.ts': 'let calls = 0' }],
  ['work left for later', checkSilencing, { 'server/src/a.ts': '// TODO finish' }],
  ['a number of an issue in place of a reason', checkSilencing, { 'server/src/a.ts': '// see issue 12' }],
  [
    'a dependency nobody decided on',
    checkDecisions,
    { 'package.json': '{"dependencies":{"left-pad":"1.0.0"}}' },
  ],
  ['a folder of one machine', checkForeignPlaces, { 'docs/a.md': ['run it in ', 'home', 'me'].join('/') }],
  [
    'a heavy package that every command would load',
    checkLightStarts,
    {
      'server/src/cli/run-here.ts': "import { far } from './far.ts'",
      'server/src/cli/far.ts': "import { z } from 'zod'",
    },
  ],
  [
    'something imported before the look at Node',
    checkLightStarts,
    { 'server/src/main.ts': "import { run } from './run.ts'", 'server/src/run.ts': '' },
  ],
  [
    'a lock with registry addresses',
    checkLock,
    { 'package-lock.json': '{"resolved": "https://example.test/a.tgz"}' },
  ],
  [
    'a lock without a binary',
    checkLock,
    { 'package-lock.json': '{"packages":{"node_modules/a":{"optionalDependencies":{"a-linux":"1.0.0"}}}}' },
  ],
]

const RIGHT = [
  [
    'a table that nothing changes',
    checkSideTables,
    { 'server/src/pipeline/a.ts': "const WORDS: ReadonlySet<string> = new Set(['a'])" },
  ],
  [
    'a stage that names what it uses',
    checkNarrowHands,
    {
      'server/src/pipeline/stages/a.ts':
        "export const a = (pipeline: Pick<Pipeline, 'now'>): void => undefined",
    },
  ],
  [
    'links and paths that exist',
    checkDocLinks,
    { 'docs/a.md': '[b](b.md) `server/src/c.ts`', 'docs/b.md': '', 'server/src/c.ts': '' },
  ],
  [
    'a path that a command makes, as .gitignore says',
    checkDocLinks,
    { '.gitignore': '/server/dist/\n', 'docs/a.md': 'see [it](../server/dist) and `server/dist/main.js`' },
  ],
  [
    'citations of headings, anchors and rows',
    checkCitations,
    {
      'tools/a.mjs': '/** Held (docs/a.md#codec--dialect, #b-1 and #2.4; docs/b.md). */',
      'docs/a.md': '## Codec × dialect\n<a id="2.4"></a>\n| b-1 | x |',
      'docs/b.md': '[there](a.md#b-1), [above](#here)\n# Here',
    },
  ],
  [
    'a file by the end of its path',
    checkCitations,
    { 'tools/a.mjs': '/** As `http/b.ts` does. */', 'server/src/http/b.ts': '' },
  ],
  ['a paragraph of a standard', checkCitations, { 'tools/a.mjs': '/** RFC 9110 §13.1.2. */' }],
  [
    'ordinary uses of words that are retired as names of parts',
    checkRetiredWords,
    { 'docs/a.md': 'make room on the disk; there is no room; wall-clock time; two letters and digits' },
  ],
  ['words that are no citation', checkCitations, { 'tools/a.mjs': '// the decisions, as pure functions' }],
  ['addresses of the web', checkDocLinks, { 'docs/a.md': '[there](https://example.test/a.md)' }],
  ['a block of commands', checkDocLinks, { 'docs/a.md': '```\n`server/src/gone.ts`\n```' }],
  ['whole words', checkNames, { 'server/src/http/a.ts': 'export const send = (request: string) => request' }],
  ['a field that a library named', checkNames, { 'server/src/http/a.ts': 'const { numDeletedRows } = done' }],
  [
    'a vendor in its own folder',
    checkVendorNames,
    { 'server/src/providers/openai/index.ts': "export const kind = 'openai'" },
  ],
  [
    'a header that a protocol names',
    checkVendorNames,
    { 'server/src/pipeline/a.ts': "const NAME = 'anthropic-version'" },
  ],
  [
    'a word that only contains a vendor',
    checkVendorNames,
    { 'server/src/pipeline/a.ts': 'const replicated = 1' },
  ],
  [
    'a module with its README',
    checkModuleReadmes,
    { 'server/src/http/a.ts': '', 'server/src/http/README.md': README },
  ],
  [
    'a function on one screen',
    checkSizes,
    { 'server/src/http/a.ts': `function short() {\n${linesOf(40)}\n}` },
  ],
  [
    'a long function somebody looked at',
    checkSizes,
    {
      'server/src/http/a.ts': `function long() {\n${linesOf(60)}\n}`,
      'tools/tidy/size-records.json': '{"server/src/http/a.ts long":62}',
    },
  ],
  ['a long file that says why', checkSizes, { 'server/src/http/a.ts': `/** One table. */\n${linesOf(500)}` }],
  [
    'core that computes',
    checkCorePurity,
    { 'server/src/core/a.ts': 'export const at = (ms: number) => new Date(ms)' },
  ],
  [
    'a rule silenced with a reason',
    checkSilencing,
    { 'server/src/a.ts': '// oxlint-disable-next-line no-console -- the ready line' },
  ],
  [
    'a dependency with its line',
    checkDecisions,
    { 'package.json': '{"dependencies":{"pg":"8.0.0"}}', 'docs/decisions/0001-stack.md': '- `pg`: …' },
  ],
  [
    'a heavy package that is imported where it is used, and types',
    checkLightStarts,
    {
      'server/src/cli/run-here.ts': "import type { Far } from './far.ts'\nawait import('./far.ts')",
      'server/src/cli/far.ts': "import { z } from 'zod'",
    },
  ],
  [
    'a path of an address',
    checkForeignPlaces,
    { 'docs/a.md': ['https://example.test', 'work', 'item'].join('/') },
  ],
]

describe('tidy finds', () => {
  test.each(WRONG)('%s', (_what, check, files) => {
    expect(check(memoryTree(files))).not.toEqual([])
  })
})

describe('tidy leaves alone', () => {
  test.each(RIGHT)('%s', (_what, check, files) => {
    expect(check(memoryTree(files))).toEqual([])
  })
})
