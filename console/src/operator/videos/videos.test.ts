/** Tasks that run at vendors: looked at, given up, and read whole. */
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { signInAs } from '../../../test/api.ts'
import { expectOpenToEverybody } from '../../../test/everybody.ts'
import { ADMIN, CUSTOMER, gatewayFile } from '../../../test/gateway.ts'
import { JOURNEY_MS, openSite, type Site } from '../../../test/visit.ts'

vi.setConfig({ testTimeout: JOURNEY_MS })

let site: Site
let studio: Server
const leaving = new AbortController()

/** A vendor whose videos take for ever. */
function openStudio(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'video_1', object: 'video', status: 'in_progress', progress: 40 }))
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the vendor listens nowhere')
  return address.port
}
beforeAll(async () => {
  studio = await openStudio()
  const file = gatewayFile()
  site = await openSite({
    file: {
      ...file,
      vendors: [
        ...file.vendors,
        {
          code: 'studio',
          kind: 'openai-compatible',
          base_url: `http://127.0.0.1:${portOf(studio)}/v1`,
          credentials: [{ name: 'main', secret: 'sk-studio' }],
        },
      ],
      models: file.models.map((model) =>
        model.model_id === 'kling-v3'
          ? {
              ...model,
              chains: [
                { vendor: 'studio', credential: 'main', protocol: 'video', forward_model_id: 'kling-v3' },
              ],
            }
          : model,
      ),
    },
  })
  const ann = await signInAs(site.baseUrl, CUSTOMER)
  const { key } = await ann.ask<{ key: string }>('POST', 'user/user/keys', { name: 'storyboard' })
  // The answer is not waited for: the vendor never ends.
  void fetch(`${site.baseUrl}/v1/videos`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'kling-v3', prompt: 'A gate over a wave', seconds: '5' }),
  }).catch((error: unknown) => expect(leaving.signal.aborted, String(error)).toBe(true))
  const admin = await signInAs(site.baseUrl, ADMIN)
  await vi.waitFor(async () => expect(await admin.ask('GET', 'admin/videos')).toHaveLength(1), 60_000)
})
afterAll(async () => {
  leaving.abort()
  await site.close()
  studio.close()
})

test('an action that fails says so over the page, until it is closed or tried again', async () => {
  const visit = await site.visit('/operate/videos', { as: ADMIN })
  const { page } = visit
  const poll = page.getByRole('row', { name: /kling-v3/ }).getByRole('button', { name: 'Poll now' })
  const notice = page.getByRole('alert').getByText('The gateway cannot be reached')
  await poll.waitFor()
  await visit.context.setOffline(true)
  await poll.click()
  await notice.waitFor()
  expect(await visit.barriers()).toEqual([])
  await page.getByRole('alert').getByRole('button', { name: 'Close' }).click()
  await notice.waitFor({ state: 'detached' })
  await poll.click()
  await notice.waitFor()
  await visit.context.setOffline(false)
  await poll.click()
  await notice.waitFor({ state: 'detached' })
  await visit.close()
})

test('a task is looked at, opened, and given up with a reason', async () => {
  const visit = await site.visit('/operate/videos', { as: ADMIN })
  const { page } = visit
  const row = page.getByRole('row', { name: /kling-v3/ })
  await row.getByRole('button', { name: 'Poll now' }).click()
  await row.getByText('kling-v3').click()
  const sheet = page.getByRole('dialog', { name: 'Video of kling-v3' })
  await sheet.getByText('studio').first().waitFor()
  await sheet.getByRole('button', { name: 'Give up' }).click()
  const ask = page.getByRole('dialog', { name: 'Give this task up?' })
  expect(await visit.barriers()).toEqual([])
  await ask.getByLabel('Reason').fill('the vendor lost it')
  await ask.getByRole('button', { name: 'Give up' }).click()
  await ask.waitFor({ state: 'detached' })
  await page.goto(`${site.baseUrl}/console/operate/videos?tab=all`)
  await row.getByText('Failed').waitFor()
  await row.click()
  await sheet
    .getByText(/the vendor lost it/)
    .first()
    .waitFor()
  expect(await sheet.getByRole('button', { name: 'Give up' }).count()).toBe(0)
  expect(visit.faults).toEqual([])
  await visit.close()
})

expectOpenToEverybody(() => site, { 'the tasks': { path: '/operate/videos?tab=all', operator: true } })
