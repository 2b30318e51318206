/** Video tasks in an admin's hands: found, asked for again, given up. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { ARK, eventually, playArk, VIDEO_PRICES } from '../gateway/videos.ts'
import { accountId } from '../../src/core/ids.ts'

let admin: AdminGateway
let customer: { readonly id: string; readonly key: string }
const waiting: Promise<Answer>[] = []

beforeAll(async () => {
  admin = await openAdminGateway()
  await admin.gateway.catalogue(
    ...putVendor('kiln', admin.upstream.url, { kind: 'ark' }),
    ...['seedance', 'other'].flatMap((model) => [
      putModel(model, { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
      putChain({ model, vendor: 'kiln', protocol: 'video', forward: 'seedance-1-0-pro' }),
    ]),
  )
  customer = await admin.gateway.newAccount()
})
beforeEach(() => playArk(admin.upstream, { polls: [ARK.queued] }))
afterAll(async () => {
  for (const task of rowsOf(await admin.get('/videos'))) await fail(String(task['id']))
  await Promise.all(waiting)
  await admin.close()
})

type Fields = Readonly<Record<string, unknown>>
const dataOf = (answer: Answer): Fields => answer.body.data as Fields
const rowsOf = (answer: Answer): readonly Fields[] => answer.body.data as Fields[]
const idsOf = (answer: Answer): readonly unknown[] => rowsOf(answer).map((row) => row['id'])
const fail = (id: string, reason = 'stuck since noon') => admin.post(`/videos/${id}/fail`, { reason })
const polls = () => admin.upstream.requests.filter(({ method }) => method === 'GET').length

/** Orders a video that the vendor never ends; gives its task, and the answer its customer waits for. */
async function order(model = 'seedance', key = admin.gateway.key) {
  const known = new Set(idsOf(await admin.get('/videos?show=all')))
  const body = { model, prompt: 'a cat on the moon', seconds: '5' }
  const answer = postJson(`${admin.gateway.baseUrl}/v1/videos`, body, { authorization: `Bearer ${key}` })
  waiting.push(answer)
  let made: Fields | undefined
  await eventually(async () => {
    made = rowsOf(await admin.get('/videos')).find((row) => !known.has(row['id']))
    return made?.['phase'] === 'running'
  })
  return { id: String(made?.['id']), answer }
}

describe('the list of videos', () => {
  test('shows what runs, oldest first, with filters and pages; and all that is kept, newest first', async () => {
    const first = await order()
    const second = await order('other', customer.key)
    const open = await admin.get('/videos')
    expect(idsOf(open)).toEqual([first.id, second.id])
    expect(rowsOf(open)[1]).toMatchObject({
      account_id: customer.id,
      model: 'other',
      vendor_code: 'kiln',
      status: 'queued',
      phase: 'running',
      seconds: '5',
      completed_at: null,
      error: null,
    })
    expect(open.text).not.toContain('a cat on the moon')
    const chain = String(rowsOf(open)[0]?.['chain_id'])
    const found = async (query: string) => idsOf(await admin.get(`/videos?${query}`))
    expect(await found(`account_id=${customer.id}`)).toEqual([second.id])
    expect(await found('model=seedance')).toEqual([first.id])
    expect(await found(`chain_id=${chain}`)).toEqual([first.id])
    expect(await found('status=completed&show=all')).toEqual([])
    const page = await admin.get('/videos?limit=1')
    expect(idsOf(page)).toEqual([first.id])
    expect(await found(`limit=1&cursor=${String(page.body['next_cursor'])}`)).toEqual([second.id])
    await fail(first.id)
    expect(await found('')).toEqual([second.id])
    expect(await found('show=all')).toEqual([second.id, first.id])
    expect(await found('show=all&status=failed')).toEqual([first.id])
    expect((await admin.get('/videos?colour=red')).body.message).toContain('colour is an unknown field')
    expect((await admin.get('/videos?status=lost')).status).toBe(400)
    expect((await admin.get('/videos?cursor=made-up')).status).toBe(400)
  })
})

describe('one video', () => {
  test('is looked at as soon as an admin asks for it', async () => {
    const { id } = await order()
    const before = polls()
    const asked = await admin.post(`/videos/${id}/repoll`)
    expect(asked.status).toBe(200)
    expect(dataOf(asked)).toMatchObject({ id, phase: 'running' })
    await eventually(() => polls() > before)
    expect(rowsOf(await admin.get(`/audit?subject=${id}`))).toMatchObject([
      { action: 'video.repoll', actor: { account_id: admin.adminId } },
    ])
  })

  test('is given up once: its customer sees the reason and gets the whole hold back', async () => {
    const funds = async () => {
      const { credits, held } = (await admin.gateway.storage.accounts.find(accountId(customer.id))) ?? {}
      return { credits, held }
    }
    const before = await funds()
    const { id, answer } = await order('seedance', customer.key)
    expect(await funds()).not.toEqual(before)
    const failed = await fail(id, 'the kiln is cold')
    expect(failed.status).toBe(200)
    expect(dataOf(failed)).toMatchObject({ id, status: 'failed', phase: 'ended', next_look_at: null })
    expect(dataOf(await admin.get(`/videos/${id}`))).toEqual(dataOf(failed))
    const told = await answer
    expect(told).toMatchObject({ status: 502, body: { code: 50201 } })
    expect(told.body.message).toContain('the kiln is cold')
    expect(await funds()).toEqual(before)
    const entry = {
      action: 'video.fail',
      changes: [
        { field: 'status', from: 'queued', to: 'failed' },
        { field: 'reason', from: null, to: 'the kiln is cold' },
      ],
    }
    expect(rowsOf(await admin.get(`/audit?subject=${id}`))).toMatchObject([entry])
    for (const again of [await fail(id), await admin.post(`/videos/${id}/repoll`)]) {
      expect(again).toMatchObject({ status: 409, body: { code: 40900 } })
      expect(again.body.message).toContain('failed')
    }
    expect(dataOf(await admin.get(`/videos/${id}`))).toEqual(dataOf(failed))
    expect(rowsOf(await admin.get(`/audit?subject=${id}`))).toHaveLength(1)
  })

  test('that is unknown is 404, and giving up wants a reason', async () => {
    const { id } = await order()
    for (const unknown of [
      await admin.get('/videos/video_unknown'),
      await admin.post('/videos/video_unknown/repoll'),
      await fail('video_unknown'),
    ])
      expect(unknown).toMatchObject({ status: 404, body: { code: 40403 } })
    const silent = await admin.post(`/videos/${id}/fail`, {})
    expect(silent).toMatchObject({ status: 400, body: { code: 40000 } })
    expect(dataOf(await admin.get(`/videos/${id}`))).toMatchObject({ phase: 'running' })
  })
})
