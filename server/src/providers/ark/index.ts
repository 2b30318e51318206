import type { FailureWords } from '../../core/routing/failure.ts'
import { chatDialect } from '../dialects/chat.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'

const WORDS: FailureWords = {
  accountoverdueerror: 'quota',
  setlimitexceeded: 'quota',
  quotaexceeded: 'quota',
  authenticationerror: 'auth',
  accessdenied: 'auth',
  operationdenied: 'auth',
  'operationdenied.serviceoverdue': 'quota',
  'operationdenied.servicenotopen': 'auth',
  modelnotopen: 'auth',
  'invalidendpoint.notfound': 'not-found',
  'invalidendpoint.closedendpoint': 'not-found',
  'invalidendpointormodel.notfound': 'not-found',
  'invalidendpointormodel.modelidaccessdisabled': 'auth',
  modelaccountrpmratelimitexceeded: 'rate-limited',
  modelaccounttpmratelimitexceeded: 'rate-limited',
  modelaccountipmratelimitexceeded: 'rate-limited',
  'ratelimitexceeded.endpointrpmexceeded': 'rate-limited',
  'ratelimitexceeded.endpointtpmexceeded': 'rate-limited',
  'ratelimitexceeded.foundationmodelrpmexceeded': 'rate-limited',
  'ratelimitexceeded.foundationmodeltpmexceeded': 'rate-limited',
  accountratelimitexceeded: 'rate-limited',
  inflightbatchsizeexceeded: 'rate-limited',
  requestbursttoofast: 'rate-limited',
  serveroverloaded: 'overloaded',
  modelloading: 'overloaded',
  internalserviceerror: 'overloaded',
  sensitivecontentdetected: 'refused-content',
  inputtextriskdetection: 'refused-content',
  inputimageriskdetection: 'refused-content',
  outputtextriskdetection: 'refused-content',
  outputimageriskdetection: 'refused-content',
  inputtextsensitivecontentdetected: 'refused-content',
  inputimagesensitivecontentdetected: 'refused-content',
  outputtextsensitivecontentdetected: 'refused-content',
}

/** Volcengine's model service in Beijing; the international one is `https://ark.ap-southeast.bytepluses.com/api/v3`. */
export const ark: Provider = {
  kind: 'ark',
  name: 'Volcengine Ark (Doubao)',
  defaultBaseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  publicFields: [],
  dialects: {
    chat: chatDialect({
      capabilities: () => ({
        reasoning: 'effort',
        efforts: ['minimal', 'low', 'medium', 'high'],
        temperatureMax: 2,
        seed: false,
        candidates: false,
        parallelToolCalls: true,
        user: false,
      }),
      words: WORDS,
    }),
    responses: responsesDialect({
      capabilities: () => ({
        reasoning: 'effort',
        efforts: ['minimal', 'low', 'medium', 'high'],
        metadata: false,
      }),
      words: WORDS,
    }),
  },
}
