/** The first start of all meets a port that is taken: the commonest accident there is makes nothing, and costs no key. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { postJson } from '../gateway/client.ts'
import { launch, MAIN } from './launch.ts'

const taken = async (run: (port: number) => Promise<void>): Promise<void> => {
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
  await run((holder.address() as AddressInfo).port)
  await new Promise((resolve) => holder.close(resolve))
}

const failureOf = (environment: Readonly<Record<string, string>>, program?: readonly string[]) =>
  launch(environment, undefined, program).then(
    () => 'it started',
    (error: unknown) => String(error),
  )

test.each(['SLUICE_PORT', 'SLUICE_GATEWAY_PORT', 'SLUICE_OPS_PORT'])(
  'a start that finds %s taken says so before it makes or prints anything',
  async (name) => {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-first-'))
    const dataDirectory = join(directory, 'data')
    await taken(async (port) => {
      expect(await failureOf({ SLUICE_DATA_DIR: dataDirectory, [name]: String(port) })).toBe(
        `Error: the gateway ended with 1 before it was ready: sluice cannot start:\nport ${port} is taken by another program: ` +
          `stop that one, or set ${name} to a free port\n`,
      )
    })
    expect(readdirSync(directory)).toEqual([])
    rmSync(directory, { recursive: true })
  },
)

/** Another program that is quicker: it takes the port when the start has just looked at it. */
const quicker = (port: number): string =>
  `data:text/javascript,${encodeURIComponent(`
    import { createServer, Server } from 'node:net'
    const { close } = Server.prototype
    Server.prototype.close = function (done) {
      if (this.address()?.port !== ${port}) return close.call(this, done)
      Server.prototype.close = close
      return close.call(this, () => createServer().listen(${port}, '127.0.0.1', done))
    }`)}`

test('a start that fails after it made keys shows them, and the next one takes them', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-first-'))
  let free = 0
  await taken(async (port) => void (free = port))
  const environment = { SLUICE_DATA_DIR: directory, SLUICE_PORT: String(free) }

  const failure = await failureOf(environment, ['--import', quicker(free), MAIN])
  expect(failure).toContain(`port ${free} is taken by another program`)
  expect(failure).not.toMatch(/\n\s+at /)
  const [, key] = /(sk-gateway-\S+)/.exec(failure) ?? []

  const running = await launch({ ...environment, SLUICE_PORT: '0' })
  const answer = await postJson(
    `${running.baseUrl}/v1/chat/completions`,
    { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] },
    { authorization: `Bearer ${key ?? 'none was shown'}` },
  )
  await running.stop()
  rmSync(directory, { recursive: true })
  expect(answer.status).toBe(200)
})

test('a first start says what it does, in text that no log line stands in; a later one is quiet', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-first-'))
  const environment = { SLUICE_DATA_DIR: directory, SLUICE_LOG_LEVEL: 'info' }
  const first = await launch(environment)
  await first.stop()
  const second = await launch({ ...environment, MISTRAL_API_KEY: 'sk-later' })
  await second.stop()
  rmSync(directory, { recursive: true })
  const [told = ''] = first.errors().split('{"level"')
  expect(told).toMatch(
    /^First start: creating the secret key and the database in \S+\.\nThe database is ready\..*\n\nSluice is ready\.\n/,
  )
  expect(told).toMatch(/\n {2}mail +not configured \(SLUICE_SMTP_URL\).*\n {2}phones +not configured/)
  expect(told).toMatch(/claude -p Hello\n\nThe console\. .*\n.*\n {2}http:\S+\/console\/setup\?token=\S+\n$/)
  expect(second.errors()).toMatch(/^\nSluice is ready\.\n/)
  expect(second.errors()).toMatch(
    /\n\nIgnored, because this is not the first start:\n {2}the environment's key of Mistral AI.*npx sluice vendors add mistral\n/,
  )
})
