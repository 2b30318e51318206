/**
 * The document drives a fuzz of every endpoint: whatever is sent, the gateway does not break, and it answers as the
 * document says. A failure prints its seed; `FUZZ_SEED` runs it again.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../../../../test/gateway/admin-gateway.ts'
import { type Answer, postJson, readAnswer } from '../../../../test/gateway/client.ts'
import { putChain, putModel, putVendor } from '../../../../test/gateway/gateway.ts'
import { AnswerSchemas } from '../../../../test/gateway/answer-schemas.ts'
import { parseJson } from '../../../core/canonical/json-text.ts'
import { arbitraryOf, fewOf } from '../../../../test/gateway/json-schema-arbitrary.ts'
import { type Operation, operationsOf } from '../../../../test/gateway/operations.ts'

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_101)
/** Requests per operation: a few seconds for all of them. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 4)

let admin: AdminGateway
let operations: readonly Operation[]
const schemas = new AnswerSchemas()
let knownValues: readonly string[]

beforeAll(async () => {
  admin = await openAdminGateway()
  await admin.gateway.catalogue(
    ...putVendor('acme', admin.upstream.url),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
  )
  operations = await operationsOf(admin.gateway)
  knownValues = await readKnownValues()
})

afterAll(() => admin.close())

/** Values that are there, among ones that are not: only so do requests reach what they are about. */
async function readKnownValues(): Promise<readonly string[]> {
  const { credentials } = await admin.gateway.storage.catalogue.read()
  return [
    ...credentials.keys(),
    '1',
    'acme',
    'plain',
    'main',
    'PRO',
    admin.gateway.accountId,
    admin.gateway.keyId,
    'owner@example.com',
  ]
}

let session: Record<string, string> | undefined
/** Of the person whose session it is: without one, what is asked for an organisation would be refused before anything else is looked at. */
let organisation = ''
let key: string | undefined

async function headersFor(operation: Operation): Promise<Record<string, string>> {
  if (operation.access === 'key') {
    key ??= (await admin.gateway.newAccount()).key
    return { authorization: `Bearer ${key}` }
  }
  if (session === undefined) {
    const person = await admin.freshAdmin()
    session = (await admin.gateway.signIn(person)).headers
    const answer = await postJson(
      `${admin.gateway.baseUrl}/api/v1/user/user/organisations`,
      { name: 'Acme' },
      session,
    )
    organisation = (answer.body.data as { readonly id: string }).id
  }
  return session
}

type Scalar = string | number | boolean

interface Shot {
  readonly path: Readonly<Record<string, Scalar>>
  readonly query: Readonly<Record<string, Scalar>>
  readonly headers: Readonly<Record<string, Scalar>>
  readonly body: unknown
}

/** Mostly what the document asks for; sometimes anything. */
function shotsAt(operation: Operation): fc.Arbitrary<Shot> {
  const known = fc.constantFrom(...knownValues)
  const part = (place: string) => {
    const own = operation.parameters.filter((parameter) => parameter.in === place)
    const free = own.filter(({ required }) => !required).map(({ name }) => [name, undefined] as const)
    return fewOf(free).chain((some) =>
      fc.record(
        Object.fromEntries(
          own
            .filter(({ name, required }) => required || some.includes(name))
            .map(({ name, schema }) => [
              name,
              fc.oneof(
                { arbitrary: arbitraryOf(schema, known).map(scalarOf), weight: 4 },
                { arbitrary: known, weight: 4 },
                { arbitrary: fc.string({ maxLength: 20 }), weight: 1 },
              ),
            ]),
        ),
      ),
    )
  }
  const body =
    operation.body === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          { arbitrary: arbitraryOf(operation.body, known), weight: 5 },
          { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 1 },
        )
  return fc.record({ path: part('path'), query: part('query'), headers: part('header'), body })
}

/** Addresses and headers hold text; a schema that allows more means its text. */
function scalarOf(value: unknown): Scalar {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return JSON.stringify(value)
}

async function shoot(operation: Operation, shot: Shot, headers: Record<string, string>) {
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent((name === 'organisation' ? organisation : String(shot.path[name] ?? '1')) || '1'),
  )
  const query = new URLSearchParams(
    Object.entries(shot.query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  const sent = Object.entries(shot.headers)
    .map(([name, value]) => [name, name === 'Gw-Organisation' ? organisation : String(value)] as const)
    .filter(([, value]) => /^[\x20-\x7e]*$/.test(value))
  const hasBody = shot.body !== undefined && operation.method !== 'GET'
  return readAnswer(
    await fetch(`${admin.gateway.baseUrl}${path}${query === '' ? '' : `?${query}`}`, {
      method: operation.method,
      headers: {
        ...Object.fromEntries(sent),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(hasBody ? { body: JSON.stringify(shot.body) } : {}),
    }),
  )
}

/** What is not as the document says; undefined: all is. */
function faultOf(operation: Operation, answer: Answer): string | undefined {
  // 501 and the like would be answers too; a broken gateway is 500 and above.
  if (answer.status >= 500 && !mayFail(operation, answer.status)) return `broke: ${answer.text}`
  if (/\bat [\w.<>]+ \(|node_modules|\.ts:\d+/.test(answer.text) && answer.status >= 400)
    return `shows its inside: ${answer.text}`
  if (answer.body.code === 40400 && !operation.path.includes('{')) return 'does not answer here'
  const { method, path } = operation
  const mediaType = answer.headers.get('content-type')?.split(';')[0] ?? ''
  const schema = schemas.of({ method, path, status: answer.status, mediaType })
  if (schema === undefined || mediaType !== 'application/json') return undefined
  const faults = schema.faults(parseJson(answer.text) ?? null)
  return faults.length === 0 ? undefined : `answered otherwise: ${faults.slice(0, 3).join('; ')}`
}

/** A call has an upstream that may be missing, and a model nobody knows is 502/50201 by contract. */
function mayFail(operation: Operation, status: number): boolean {
  return operation.isCall && (status === 502 || status === 503 || status === 504)
}

describe('the document', () => {
  test('every operation survives whatever is sent and answers as it says [D-addresses-03]', async () => {
    const faults: string[] = []
    for (const [index, operation] of operations.entries()) {
      const shots = fc.sample(shotsAt(operation), { numRuns: RUNS, seed: SEED + index })
      for (const shot of shots) {
        const answer = await shoot(operation, shot, await headersFor(operation))
        // Some requests end their session or suspend their account; the next one begins anew.
        if (answer.status === 401 || answer.status === 403) session = key = undefined
        const fault = faultOf(operation, answer)
        if (fault !== undefined) {
          faults.push(
            `${operation.method} ${operation.path} ${answer.status} ${fault} ← ${JSON.stringify(shot)}`,
          )
          break
        }
      }
    }
    expect(faults, `seed ${SEED}`).toEqual([])
  })
})
