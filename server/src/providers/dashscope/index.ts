import { chatDialect } from '../dialects/chat.ts'
import { besideMain, formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { passedDialect } from '../dialects/passed.ts'
import { responsesDialect } from '../dialects/responses.ts'
import { floatsOnly } from '../dialects/vectors.ts'
import type { Provider } from '../provider.ts'
import { WORDS } from './failure-words.ts'
import { dashscopeImages } from './images.ts'
import { dashscopeRerank } from './rerank.ts'
import { dashscopeSpeech } from './speech.ts'
import { dashscopeTranscription } from './transcription.ts'
import { dashscopeVideo } from './video.ts'

/** Alibaba Cloud's Model Studio, mainland address; others have the same paths on another host. */
export const dashscope: Provider = {
  kind: 'dashscope',
  name: 'Alibaba Cloud Model Studio (Qwen)',
  defaultBaseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  publicFields: [],
  // `max_tokens` limits the answer only; `thinking_budget` limits the thinking.
  reasoningOutsideCap: true,
  dialects: {
    embeddings: passedDialect({
      protocol: 'embeddings',
      path: '/embeddings',
      words: WORDS,
      rewrite: floatsOnly,
    }),
    rerank: dashscopeRerank,
    images: dashscopeImages,
    speech: dashscopeSpeech,
    transcription: dashscopeTranscription,
    chat: chatDialect({
      capabilities: () => ({
        reasoning: 'budget',
        reasoningSwitch: 'enable_thinking',
        efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
        forcedToolWithReasoning: false,
        topK: true,
        user: false,
      }),
      words: WORDS,
    }),
    responses: responsesDialect({
      capabilities: () => ({ reasoning: 'effort', efforts: ['none', 'minimal', 'low', 'medium', 'high'] }),
      words: WORDS,
    }),
    messages: messagesDialect({
      form: (input) =>
        formMessagesWithoutCount(
          besideMain(input.baseUrl, { main: '/compatible-mode/v1', messages: '/apps/anthropic' }),
          input,
        ),
      capabilities: () => ({ reasoning: 'budget', images: 'url' }),
      words: WORDS,
    }),
  },
  video: dashscopeVideo,
}
