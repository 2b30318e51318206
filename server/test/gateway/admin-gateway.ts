/** A gateway with an admin signed in, and the words in which tests speak to the management API. */
import type { AccountId } from '../../src/core/ids.ts'
import { type Answer, get, postJson, readAnswer } from './client.ts'
import { type TestGateway, type GatewayOptions, openGateway } from './gateway.ts'
import { answerJson, openScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.ts'

export interface AdminGateway {
  readonly gateway: TestGateway
  readonly upstream: ScriptedUpstream
  readonly headers: Record<string, string>
  readonly adminId: AccountId
  /** Another admin, for requests that may cost the account they are made with. */
  freshAdmin(): Promise<AccountId>
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  patch(path: string, body: unknown): Promise<Answer>
  remove(path: string): Promise<Answer>
  /** Asks a model for an answer, with a customer's key. */
  call(model: string, key?: string): Promise<Answer>
  close(): Promise<void>
}

export const ANSWER = {
  id: 'chatcmpl-1',
  created: 1_790_000_000,
  object: 'chat.completion',
  model: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
}

export async function openAdminGateway(options: GatewayOptions = {}): Promise<AdminGateway> {
  const upstream = await openScriptedUpstream()
  upstream.answer(answerJson(ANSWER))
  const gateway = await openGateway(options)
  const { id: adminId, headers } = await gateway.newAdmin()
  const at = (path: string): string => `${gateway.baseUrl}/api/v1/admin${path}`
  return {
    gateway,
    upstream,
    headers,
    adminId,
    freshAdmin: async () => (await gateway.newAdmin()).id,
    get: (path) => get(at(path), headers),
    post: (path, body = {}, more = {}) => postJson(at(path), body, { ...headers, ...more }),
    patch: async (path, body) =>
      readAnswer(
        await fetch(at(path), {
          method: 'PATCH',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }),
      ),
    remove: async (path) => readAnswer(await fetch(at(path), { method: 'DELETE', headers })),
    call: (model, key = gateway.key) =>
      postJson(
        `${gateway.baseUrl}/v1/chat/completions`,
        { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 },
        { authorization: `Bearer ${key}` },
      ),
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}
