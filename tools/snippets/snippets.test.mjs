/** What stands in README, guides and operating pages works as it stands there: on a gateway with the sandbox's models. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch } from '../../server/test/processes/launch.ts'
import { openMailbox } from '../../server/test/notify/mailbox.ts'
import { loadTypeScript } from '../project/load-typescript.mjs'
import { openTree, root } from '../project/tree.mjs'
import { isFollowable, readSnippets } from './read-snippets.mjs'

const run = promisify(execFile)
const { parse: parseYaml } = createRequire(join(root, 'server/package.json'))('yaml')
const tree = openTree()
const pages = tree.files
  .filter(isFollowable)
  .map((file) => ({ file, snippets: readSnippets(tree.read(file)) }))
const chosen = (...marks) =>
  pages
    .map(({ file, snippets }) => ({ file, snippets: snippets.filter(({ mark }) => marks.includes(mark)) }))
    .filter(({ snippets }) => snippets.length > 0)

const PARSERS = {
  sh: (text) => run('bash', ['-n', '-c', text]),
  json: (text) => JSON.parse(text),
  yaml: (text) => parseYaml(text),
  js: (text) => transform(text),
  ts: (text) => transform(text, { loader: 'ts' }),
  // Of a language without a parser here: what is opened is closed.
  promql: (text) =>
    expect(text.replaceAll(/[^()[\]{}]/g, '')).toMatch(
      /^(?:\(\)|\[\]|\{\}|\((?:\(\)|\{\}|\[\]|\((?:\{\}|\[\])*\))*\))*$/,
    ),
}

test.each(chosen('parse', 'run'))(
  '$file: every block is written as its language wants it',
  async ({ snippets }) => {
    for (const { language, line, text } of snippets) {
      expect(Object.keys(PARSERS), `line ${line}`).toContain(language)
      await PARSERS[language](text)
    }
  },
)

test.each(chosen('settings'))('$file: the gateway takes every setting', async ({ snippets }) => {
  const { readConfig } = await loadTypeScript(join(root, 'server/src/config/environment.ts'))
  for (const { text } of snippets) {
    for (const script of settingsIn(text)) {
      const { stdout } = await run('bash', ['-euc', `set -a\n${script}\nenv -0`], {
        env: { PATH: process.env.PATH },
      })
      const settings = stdout.split('\0').filter((one) => one.startsWith('SLUICE_'))
      expect(settings).not.toEqual([])
      readConfig(Object.fromEntries(settings.map((one) => /^([^=]+)=([^]*)$/.exec(one).slice(1))), tmpdir())
    }
  }
})

/** Lines of one name are alternatives; others stand together. */
function settingsIn(text) {
  const lines = text.split('\n')
  const names = new Set(lines.map((line) => line.split('=')[0]))
  return names.size === 1 ? lines : [text]
}

describe('on a running gateway', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-snippets-'))
  let mailbox, gateway, mails, environment

  beforeAll(async () => {
    mailbox = await openMailbox()
    mails = await serveMails(mailbox)
    gateway = await launch({
      SLUICE_DATA_DIR: join(directory, 'data'),
      SLUICE_SMTP_URL: mailbox.url,
      SLUICE_MAIL_FROM: 'sluice@sluice.example',
    })
    environment = {
      PATH: `${putCommands()}:${process.env.PATH}`,
      HOME: directory,
      SLUICE_DATA_DIR: join(directory, 'data'),
      SLUICE_PORT: new URL(gateway.baseUrl).port,
      SLUICE_OPS_PORT: new URL(gateway.opsUrl).port,
      OPENAI_API_KEY: 'sk-openai',
      MAILS: mails.url,
    }
    environment.TOKEN = environment.ADMIN = await signInOwner()
  })
  afterAll(async () => {
    await gateway?.stop()
    await mails?.close()
    await mailbox?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  /** `sluice` and `npx sluice`, from wherever a snippet stands. */
  function putCommands() {
    const folder = join(directory, 'bin')
    mkdirSync(folder)
    const put = (name, text) => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(folder, name), 0o755)
    }
    put('sluice', `exec '${process.execPath}' '${join(root, 'server/bin/sluice.mjs')}' "$@"`)
    put('npx', 'exec "$@"')
    return folder
  }

  async function signInOwner() {
    const { stdout } = await run('sluice', ['sign-in-link', '--json'], { env: environment })
    const token = new URL(JSON.parse(stdout).url).searchParams.get('token')
    const answer = await fetch(`${gateway.baseUrl}/api/v1/user/user/sign-in/link`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    return (await answer.json()).data.token
  }

  /** A whole page is one script, so that what one block sets the next one has. */
  async function follow(file, snippets) {
    const [key] = /sk-gateway-[\w-]+/.exec(gateway.errors()) ?? [gateway.errors()]
    const text = snippets
      .map(({ first = '', text }) => `${first}\n${text}`)
      .join('\n')
      .replaceAll('sk-gateway-…', key)
      .replaceAll(/http:\/\/127\.0\.0\.1:8080|https:\/\/sluice\.example\.com/g, gateway.baseUrl)
      .replaceAll('/backup/', './')
    const folder = mkdtempSync(join(directory, 'page-'))
    return run('bash', ['-euo', 'pipefail', '-c', `${PRELUDE}\n${text}`], { cwd: folder, env: environment })
  }

  test.each(chosen('run'))(
    '$file: every block that can run does what it says',
    async ({ file, snippets }) => {
      const { stdout } = await follow(file, snippets)
      expect(stdout).not.toBe('')
    },
  )

  test.each(chosen('gateway.yaml'))('$file: every gateway file is taken', async ({ snippets }) => {
    for (const { text } of snippets) {
      const path = join(directory, 'gateway.yaml')
      writeFileSync(path, text)
      const { stdout } = await run('sluice', ['apply', '--dry-run', '-f', path], { env: environment })
      expect(stdout).toContain('create')
    }
  })
})

/** An answer that is an error ends the script; `field a.b` reads one of an answer, `mailed` the code in the next mail to somebody. */
const PRELUDE = `
curl() { command curl -sS --fail-with-body "$@"; }
field() { node -e 'const [path] = process.argv.slice(1); console.log(path.split(".").reduce((value, name) => value[name], JSON.parse(require("fs").readFileSync(0, "utf8"))))' "$1"; }
mailed() { curl "$MAILS/$1" | grep -oE '[0-9]{6}' | head -n 1; }
`

async function serveMails(mailbox) {
  const server = createServer((request, response) => {
    mailbox.next(decodeURIComponent(request.url.slice(1))).then(
      ({ text }) => response.end(text),
      (error) => response.writeHead(404).end(String(error)),
    )
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
