/** Answers of the management API are as the document says, good ones and refusals, and the document says it tightly. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../../../../test/gateway/admin-gateway.ts'
import { type Mailbox, openMailbox } from '../../../../test/notify/mailbox.ts'
import { AnswerSchemas } from '../../../../test/gateway/answer-schemas.ts'
import { type Met, Tour, tourOf } from '../../../../test/gateway/management-tour.ts'
import { operationsOf } from '../../../../test/gateway/operations.ts'
import { differentShapes, expectTight, type SeenAnswer } from '../../../../test/gateway/tightness.ts'

const schemas = new AnswerSchemas()

/** Their good answers are met where the other side of them is played. */
const MET_ELSEWHERE = [
  // server/test/admin/videos.test.ts
  'POST /api/v1/admin/videos/{id}/fail',
  'POST /api/v1/admin/videos/{id}/repoll',
  // server/test/customers/top-ups.test.ts
  'POST /api/v1/payments/{provider}/webhook',
  'POST /api/v1/user/user/top-ups',
  'GET /api/v1/user/user/top-ups/{id}',
  // server/test/customers/kept-conversation.test.ts
  'GET /api/v1/user/user/logs/{request_id}/conversation',
  // server/test/customers/alerts.test.ts
  'POST /api/v1/user/user/alerts/test',
  // server/test/identity/sign-in-services.test.ts
  'POST /api/v1/user/user/linked-services/{name}/start',
  'DELETE /api/v1/user/user/linked-services/{name}',
  'POST /api/v1/user/user/sign-in/services/{name}/start',
  'GET /api/v1/user/user/sign-in/services/{name}/callback',
  // server/test/identity/identity.test.ts
  'PUT /api/v1/user/user/phone',
  'POST /api/v1/user/user/register/phone',
]

let mailbox: Mailbox
let admin: AdminGateway
let good: readonly Met[]
let refusals: readonly Met[]

beforeAll(async () => {
  mailbox = await openMailbox()
  const environment = { SLUICE_SMTP_URL: mailbox.url, SLUICE_MAIL_FROM: 'sluice@example.com' }
  admin = await openAdminGateway({ environment })
  good = await tourOf(admin, mailbox)
  refusals = await refusedEverywhere()
})
afterAll(async () => {
  await admin.close()
  await mailbox.close()
})

/** Every operation, asked by nobody, and then for what is not there. */
async function refusedEverywhere(): Promise<readonly Met[]> {
  const tour = new Tour(admin.gateway.baseUrl)
  for (const { method, path, isCall } of await operationsOf(admin.gateway)) {
    const template = path.replace('/api/v1/', '')
    if (isCall || template === path) continue
    const body = method === 'GET' || method === 'DELETE' ? undefined : { nothing: 'known' }
    const ids = (path.match(/\{/g) ?? []).map(() => 'nobody')
    await tour.ask({}, method, template, { ids, body })
    await tour.ask(admin.headers, method, template, { ids, body })
  }
  return tour.met.filter(({ status }) => status >= 400)
}

function seen(met: readonly Met[]): readonly SeenAnswer[] {
  return met.flatMap(({ value, ...answered }) => {
    const schema = schemas.of(answered)
    const { method, path, status, mediaType = 'no type' } = answered
    const from = `${method} ${path} ${status} ${mediaType}`
    if (schema === undefined) throw new Error(`the document does not describe ${from}`)
    return mediaType === 'application/json' ? [{ schema, value, from }] : []
  })
}

const faultsOf = (answers: readonly SeenAnswer[]) =>
  answers.flatMap(({ schema, value, from }) => {
    const faults = schema.faults(value)
    return faults.length === 0 ? [] : [`${from}: ${faults.slice(0, 3).join('; ')}`]
  })

describe('answers of the management API', () => {
  test('are as the document says', () => {
    expect(faultsOf(seen(good))).toEqual([])
    expect(faultsOf(seen(refusals))).toEqual([])
  })

  test('are met good for all operations but those that need a company, a telephone or a running video', async () => {
    const operations = (await operationsOf(admin.gateway)).filter(({ path }) => path.startsWith('/api/v1/'))
    const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) =>
      `${method} ${path}`
    const met = new Set(good.map(nameOf))
    const missing = operations.map(nameOf).filter((name) => !met.has(name))
    expect(missing.toSorted()).toEqual(MET_ELSEWHERE.toSorted())
  })

  test('spoilt at random are not, nine in ten times at least', () => {
    expectTight('management answers', differentShapes(seen(good)))
    expectTight('management refusals', differentShapes(seen(refusals)))
  })
})
