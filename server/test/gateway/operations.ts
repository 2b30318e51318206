/** What the running gateway's own document says it can be asked. */
import type { TestGateway } from './gateway.ts'
import { get } from './client.ts'

export type JsonSchema = boolean | { readonly [name: string]: unknown }

export interface Operation {
  readonly method: string
  readonly path: string
  readonly access: string
  /** The least right it is used with for an organisation; undefined: the route has nothing to do with them. */
  readonly right: string | undefined
  /** What an admin who impersonates the account may do; undefined: they cannot be one there. */
  readonly impersonator: string | undefined
  /** The answer holds something that lets somebody in. */
  readonly showsSecret: boolean
  /** One of the protocol endpoints, which are no routes of ours. */
  readonly isCall: boolean
  readonly parameters: readonly Parameter[]
  readonly body: JsonSchema | undefined
  /** Status → schema of its JSON; undefined: the answer is no JSON. */
  readonly answers: ReadonlyMap<string, JsonSchema | undefined>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: JsonSchema
}

interface Media {
  readonly schema: JsonSchema
}

interface WrittenOperation {
  readonly 'x-access': string
  readonly 'x-for'?: string
  readonly 'x-impersonator'?: string
  readonly 'x-shows-secret'?: boolean
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>
}

export async function operationsOf(gateway: Pick<TestGateway, 'baseUrl'>): Promise<readonly Operation[]> {
  const { body } = await get(`${gateway.baseUrl}/openapi.json`)
  const paths = body['paths'] as Readonly<Record<string, Readonly<Record<string, WrittenOperation>>>>
  const shared = (body['components'] as { schemas: Readonly<Record<string, JsonSchema>> }).schemas
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, words]) => ({
      method: method.toUpperCase(),
      path,
      access: words['x-access'],
      right: words['x-for'],
      impersonator: words['x-impersonator'],
      showsSecret: words['x-shows-secret'] === true,
      isCall: /^\/v\d/.test(path) && !path.startsWith('/v1/models'),
      parameters: words.parameters ?? [],
      body: words.requestBody?.content['application/json']?.schema,
      answers: new Map(
        Object.entries(words.responses).map(([status, answer]) => [
          status,
          resolved(answer.content?.['application/json']?.schema, shared),
        ]),
      ),
    })),
  )
}

/** References put in place, wherever they stand. */
function resolved(
  schema: JsonSchema | undefined,
  shared: Readonly<Record<string, JsonSchema>>,
): JsonSchema | undefined {
  if (schema === undefined) return undefined
  return JSON.parse(JSON.stringify(schema), (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value
    return shared[String(value['$ref']).split('/').at(-1) ?? '']
  }) as JsonSchema
}
