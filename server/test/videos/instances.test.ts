/** Two instances on one store: whoever polls, the POST that waits elsewhere is answered. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exampleAbandon, exampleLog } from '../../src/core/calls/examples.ts'
import { instanceId } from '../../src/core/ids.ts'
import { gatewayFailure } from '../../src/pipeline/video/task/task-error.ts'
import { openStorage } from '../../src/storage/open.ts'
import { postJson } from '../gateway/client.ts'
import { openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { openScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { ARK, creates, eventually, playArk, VIDEO_PRICES } from '../gateway/videos.ts'

test('a task is ordered by one instance, polled by another, and billed once [D-video-13] [D-video-14]', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-two-'))
  const environment = { SLUICE_DATA_DIR: directory }
  const vendor = await openScriptedUpstream()
  playArk(vendor, { polls: [ARK.running, ARK.running, ARK.done('https://videos.example/one.mp4')] })
  const asking = await openGateway({ environment })
  await asking.catalogue(
    ...putVendor('ark', vendor.url, { kind: 'ark' }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-1-0-pro' }),
  )
  const before = (await asking.account()).credits
  await asking.running.pipeline.videos.poller.stop()
  // The lease of the one that ordered has run out by the other's clock.
  const polling = await openGateway({
    environment,
    owner: 'second@example.com',
    now: () => Date.now() + 60_000,
  })
  const answer = await postJson(
    `${asking.baseUrl}/v1/videos`,
    { model: 'seedance', prompt: 'a cat', seconds: '5' },
    { authorization: `Bearer ${asking.key}` },
  )
  expect(answer).toMatchObject({ status: 200, body: { status: 'completed' } })
  expect(creates(vendor)).toHaveLength(1)
  await polling.videosEnded()
  expect(before - (await asking.account()).credits).toBe(2_500_000_000n)
  await asking.close()
  await polling.close()
  await vendor.close()
  rmSync(directory, { recursive: true })
})

test('a POST that waits for an order whose record is gone is told to send it again', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-gone-'))
  const vendor = await openScriptedUpstream()
  playArk(vendor, { polls: [ARK.running] })
  const secretKey = Buffer.alloc(32, 7)
  const gateway = await openGateway({
    environment: { SLUICE_DATA_DIR: directory, SLUICE_SECRET_KEY: secretKey.toString('hex') },
  })
  await gateway.catalogue(
    ...putVendor('ark', vendor.url, { kind: 'ark' }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-1-0-pro' }),
  )
  const order = () =>
    postJson(
      `${gateway.baseUrl}/v1/videos`,
      { model: 'seedance', prompt: 'a cat', seconds: '5' },
      { authorization: `Bearer ${gateway.key}`, 'idempotency-key': 'twice' },
    )
  const first = order()
  await eventually(() => creates(vendor).length === 1)
  const second = order()
  await eventually(() => gateway.running.openCalls() === 2)
  await gateway.running.pipeline.videos.poller.stop()
  // Another instance ends the task, and makes way for a repetition before this one has read its end.
  const other = await openStorage({
    databaseUrl: undefined,
    dataDir: directory,
    secretKey,
    instanceId: instanceId('other'),
    now: Date.now,
    log: { warn: () => undefined },
  })
  const [task] = await other.videos.list({ limit: 1, after: undefined, order: 'desc' })
  if (task === undefined) throw new Error('there is no task')
  const { id, callId, keyId, accountId } = task
  const patch = { status: 'failed', completedAt: Date.now(), error: gatewayFailure(50301) } as const
  const log = exampleLog(callId, { keyId, accountId, httpStatus: 503 })
  await other.calls.abandon(
    exampleAbandon(callId, { keyId, accountId, at: Date.now(), log, task: { id, patch } }),
  )
  expect(await other.videos.remove(id, keyId)).toBe(true)
  await other.close()
  for (const answer of await Promise.all([first, second]))
    expect(answer).toMatchObject({ status: 503, body: { code: 50301 } })
  await gateway.close()
  await vendor.close()
  rmSync(directory, { recursive: true })
})
