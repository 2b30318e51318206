/** `docs/guides/add-an-endpoint.md` leads to an endpoint that works: it is added to a copy of the gateway, started and called. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  answerJson,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../test/gateway/scripted-upstream.ts'
import { type Launched, launch } from '../../../test/processes/launch.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const GUIDE = join(ROOT, 'docs/guides/add-an-endpoint.md')
const KEY = 'sk-gateway-classifications-guide-0001'

/** The guide's code blocks by the file they name, else by their language. */
async function readSnippets(): Promise<ReadonlyMap<string, string>> {
  const guide = await readFile(GUIDE, 'utf8')
  const blocks = [...guide.matchAll(/```(\w+) ?(\S*)\n([\s\S]*?)```/g)]
  return new Map(blocks.map(([, language = '', file = '', code = '']) => [file || language, code]))
}

/** Where in each file its lines go: before the text that is named. */
const PLACES: Readonly<Record<string, string>> = {
  'server/src/core/catalogue.ts': '} as const satisfies Readonly<Record<string, PassedFormFacts',
  'server/src/providers/mistral/index.ts': '    chat: chatDialect(',
  'server/src/providers/providers.test.ts': "  ['mistral', 'chat', BEARER,",
  'server/src/http/management/openapi/passed-calls.ts': '\n]\n',
}

const KINDS_INDEX = 'server/src/pipeline/kinds/index.ts'
/** As docs/architecture.md promises. */
const FILES_MAX = 6
const OWN_FILE = 'server/src/pipeline/kinds/classification.ts'

class Copy {
  readonly root: string
  readonly #snippets: ReadonlyMap<string, string>

  constructor(root: string, snippets: ReadonlyMap<string, string>) {
    this.root = root
    this.#snippets = snippets
  }

  snippet(name: string): string {
    const text = this.#snippets.get(name)
    if (text === undefined) throw new Error(`the guide has no block for ${name}`)
    return text
  }

  /** What a gateway is built from. */
  async take(): Promise<void> {
    for (const path of [
      'server/src',
      'server/package.json',
      'server/tsconfig.json',
      'tools/project',
      'package.json',
    ])
      await cp(join(ROOT, path), join(this.root, path), { recursive: true })
    await symlink(join(ROOT, 'node_modules'), join(this.root, 'node_modules'))
  }

  async follow(): Promise<void> {
    for (const [file, place] of Object.entries(PLACES)) {
      await this.#change(file, (text) => inserted(text, this.snippet(file), place))
    }
    await writeFile(join(this.root, OWN_FILE), this.snippet(OWN_FILE))
    const [importLine = '', nameLine = ''] = this.snippet(KINDS_INDEX).split('\n\n')
    await this.#change(KINDS_INDEX, (text) =>
      inserted(inserted(text, `${importLine}\n`, 'import { STORED }'), nameLine, 'GENERATE,'),
    )
  }

  async #change(file: string, change: (text: string) => string): Promise<void> {
    const path = join(this.root, file)
    const text = await readFile(path, 'utf8')
    const changed = change(text)
    if (changed === text) throw new Error(`the guide changes nothing in ${file}`)
    await writeFile(path, changed)
  }
}

function inserted(text: string, lines: string, before: string): string {
  if (!text.includes(before)) throw new Error(`nothing reads ${before}`)
  return text.replace(before, () => `${lines}${before}`)
}

describe('the guide to adding an endpoint', () => {
  let folder = ''
  let copy: Copy
  let upstream: ScriptedUpstream
  let gateway: Launched | undefined

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-endpoint-'))
    copy = new Copy(join(folder, 'copy'), await readSnippets())
    await mkdir(copy.root)
    await copy.take()
    await copy.follow()
    upstream = await openScriptedUpstream()
    // In a process of its own: the bundler's binary is not shared with the tests.
    const script = `import { buildWhenNeeded } from ${JSON.stringify(join(copy.root, 'tools/project/build.mjs'))}; await buildWhenNeeded(${JSON.stringify(copy.root)})`
    await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: copy.root })
    const file = join(folder, 'gateway.yaml')
    await writeFile(file, copy.snippet('classifications.yaml').replace('http://127.0.0.1:9000', upstream.url))
    gateway = await launch({ SLUICE_DATA_DIR: join(folder, 'data'), SLUICE_CONFIG: file }, undefined, [
      join(copy.root, 'server/dist/main.js'),
    ])
  })

  afterAll(async () => {
    await gateway?.stop()
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('leads to one that is called as the guide calls it: bytes pass, the model is exchanged, the call is charged', async () => {
    const answered = '{"id":"clas-1", "model":"ft-classifier","results":[{"spam":{"scores":{"yes":1.0e-3}}}]}'
    upstream.answer(answerJson(answered))
    const curl = copy.snippet('sh').replace('http://127.0.0.1:8080', gateway?.baseUrl ?? '')
    const { stdout } = await run('bash', ['-euc', curl])
    expect(stdout).toBe(answered.replace('ft-classifier', 'sorter'))
    expect(upstream.requests.map(({ path, body }) => [path, body.toString()])).toEqual([
      ['/v1/classifications', '{"model":"ft-classifier","input":"Hello"}'],
    ])
    const logs = await asked('/api/v1/user/user/logs')
    expect(logs).toMatchObject([
      {
        endpoint: '/v1/classifications',
        client_protocol: 'classification',
        model: 'sorter',
        http_status: 200,
        deducted: '2',
        recipe: { lines: [{ class: 'request', quantity: 1, price: '0.002' }] },
      },
    ])
  })

  test('that fails, is told of and is refused like every other', async () => {
    upstream.answer(answerJson({ error: { message: 'no such thing', type: 'invalid_request_error' } }, 400))
    expect(await post('/v1/classifications', { model: 'sorter', input: 'x' })).toMatchObject([
      400,
      { error: { message: 'no such thing' } },
    ])
    expect(await post('/v1/classifications', { model: 'nobody', input: 'x' })).toMatchObject([
      502,
      { code: 50201 },
    ])
    expect(await post('/v1/chat/completions', { model: 'sorter', messages: [] })).toMatchObject([
      404,
      { code: 40403, message: expect.stringContaining('/v1/classifications') },
    ])
    expect(await asked('/api/v1/user/user/models')).toMatchObject([
      { model_id: 'sorter', endpoints: ['/v1/classifications'] },
    ])
    const explained = await post('/api/v1/user/user/explain', {
      protocol: 'classification',
      body: { model: 'sorter', input: 'x' },
    })
    expect(explained).toMatchObject([
      200,
      { data: { refusal: null, routes: [{ chains: [{ protocol: 'classification' }] }] } },
    ])
  })

  test('touching at most six source files', async () => {
    const files = [...(await readSnippets()).keys()].filter((name) => name.startsWith('server/src/'))
    // A path that clients were told is not offered has a line there.
    const sources = [
      ...files.filter((name) => !name.endsWith('.test.ts')),
      'server/src/http/calls/unoffered.ts',
    ]
    expect(sources).toContain(OWN_FILE)
    expect(sources.length).toBeLessThanOrEqual(FILES_MAX)
  })

  test('and whose code passes the type check of the project', async () => {
    const compiler = join(
      dirname(createRequire(import.meta.url).resolve('@typescript/native/package.json')),
      'bin/tsc',
    )
    const settings = {
      extends: './server/tsconfig.json',
      compilerOptions: { typeRoots: [join(ROOT, 'node_modules/@types')] },
      include: ['server/src/**/*.d.ts'],
      files: [
        OWN_FILE,
        'server/src/pipeline/serve-call.ts',
        'server/src/http/management/openapi/passed-calls.ts',
      ],
    }
    await writeFile(join(copy.root, 'tsconfig.json'), JSON.stringify(settings))
    const checking = run(process.execPath, [compiler, '-p', join(copy.root, 'tsconfig.json')])
    expect(await checking.catch((failure: { stdout: string }) => failure)).toMatchObject({ stdout: '' })
  })

  async function post(path: string, body: object): Promise<[number, unknown]> {
    const answer = await fetch(`${gateway?.baseUrl ?? ''}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return [answer.status, await answer.json()]
  }

  async function asked(path: string): Promise<unknown> {
    const answer = await fetch(`${gateway?.baseUrl ?? ''}${path}`, {
      headers: { authorization: `Bearer ${KEY}` },
    })
    const { data } = (await answer.json()) as { data: unknown }
    return data
  }
})
