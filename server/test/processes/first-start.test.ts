/** The first start of all meets a port that is taken: the commonest accident there is must not cost the first key. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { postJson } from '../gateway/client.ts'
import { launch } from './launch.ts'

test('a start that fails shows the keys it made, and the next one takes them', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-first-'))
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
  const { port } = holder.address() as AddressInfo
  const environment = { SLUICE_DATA_DIR: directory, SLUICE_PORT: String(port) }

  const failure = await launch(environment).then(
    () => 'it started',
    (error: unknown) => String(error),
  )
  expect(failure).toContain(`port ${port} is taken by another program`)
  expect(failure).not.toMatch(/\n\s+at /)
  const [, key] = /(sk-gateway-\S+)/.exec(failure) ?? []
  await new Promise((resolve) => holder.close(resolve))

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
  expect(told).toMatch(/^First start: making \S+ .*\nThe database is ready\..*\n\nSluice is ready\.\n/)
  expect(told).toMatch(/\n {2}mail +not configured \(SLUICE_SMTP_URL\).*\n {2}phones +not configured/)
  expect(told).toMatch(/claude -p Hello\n\nThe console\. .*\n.*\n {2}http:\S+\/console\/setup\?token=\S+\n$/)
  expect(second.errors()).toMatch(/^\nSluice is ready\.\n/)
  expect(second.errors()).toMatch(
    /\n\nNot taken, because this is no first start:\n {2}the environment's key of Mistral AI.*npx sluice vendors add mistral\n/,
  )
})
