/** Two instances on one store: whoever polls, the POST that waits elsewhere is answered (decisions, Video). */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { postJson } from '../../../test/house/client.ts'
import { openHouse, putChain, putModel, putVendor } from '../../../test/house/house.ts'
import { openScriptedUpstream } from '../../../test/house/scripted-upstream.ts'
import { ARK, creates, playArk, VIDEO_PRICES } from '../../../test/house/videos.ts'

test('[D-video-13] [D-video-14] a task is ordered by one instance, polled by another, and billed once', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-two-'))
  const environment = { SLUICE_DATA_DIR: directory }
  const vendor = await openScriptedUpstream()
  playArk(vendor, { polls: [ARK.running, ARK.running, ARK.done('https://films.example/one.mp4')] })
  const asking = await openHouse({ environment })
  await asking.catalogue(
    ...putVendor('ark', vendor.url, { kind: 'ark' }),
    putModel('seedance', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'seedance', vendor: 'ark', protocol: 'video', forward: 'seedance-1-0-pro' }),
  )
  const before = (await asking.account()).credits
  await asking.running.gateway.videos.poller.stop()
  // The lease of the one that ordered has run out by the other's clock.
  const polling = await openHouse({
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
