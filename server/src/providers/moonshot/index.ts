import type { FailureWords } from '../../core/routing/failure.ts'
import { chatDialect } from '../dialects/chat.ts'
import { besideMain, formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'

const WORDS: FailureWords = {
  content_filter: 'refused-content',
  invalid_authentication_error: 'auth',
  incorrect_api_key_error: 'auth',
  permission_denied_error: 'auth',
  resource_not_found_error: 'not-found',
  // Three different failures have the status 429.
  exceeded_current_quota_error: 'quota',
  rate_limit_reached_error: 'rate-limited',
  engine_overloaded_error: 'overloaded',
}

/** Mainland address; the international one is `https://api.moonshot.ai/v1`, with keys of its own. */
export const moonshot: Provider = {
  kind: 'moonshot',
  name: 'Moonshot AI (Kimi)',
  defaultBaseUrl: 'https://api.moonshot.cn/v1',
  publicFields: [],
  dialects: {
    chat: chatDialect({
      capabilities: (model) => ({
        ...(model.startsWith('kimi-k3')
          ? { reasoning: 'effort', efforts: ['low', 'high', 'max'] }
          : { reasoning: 'toggle', efforts: ['none', 'high'] }),
        replayReasoning: true,
        forcedToolWithReasoning: false,
        temperatureMax: 1,
        images: 'inline',
        parallelToolCalls: false,
        logprobs: false,
        seed: false,
        stopMax: 5,
        user: false,
      }),
      words: WORDS,
    }),
    responses: responsesDialect({ words: WORDS }),
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) =>
        formMessagesWithoutCount(besideMain(input.baseUrl, { main: '/v1', messages: '/anthropic' }), input),
      capabilities: (model) =>
        model.startsWith('kimi-k3')
          ? { reasoning: 'effort', efforts: ['low', 'high', 'max'] }
          : { reasoning: 'toggle', efforts: ['none', 'high'] },
      words: WORDS,
    }),
  },
}
