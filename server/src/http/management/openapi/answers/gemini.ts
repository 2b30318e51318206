/** Answers of the Gemini protocol, whole and in fragments: an object from which Google omits everything empty. */
import type { JsonObject } from '../../../../core/json.ts'
import { UPSTREAM_BODY } from './errors.ts'
import {
  among,
  anyJson,
  anyObject,
  closed,
  count,
  decimal,
  described,
  either,
  exactly,
  flag,
  list,
  named,
  text,
  whole,
  word,
} from './words.ts'

const partialArgument = closed(
  { jsonPath: text },
  {
    stringValue: text,
    numberValue: decimal,
    boolValue: flag,
    nullValue: either(exactly('NULL_VALUE'), { type: 'null' }),
    willContinue: flag,
  },
)

const functionCall = closed(
  {},
  {
    id: text,
    name: text,
    args: described('The arguments, as the tool of the client has them.', anyObject),
    partialArgs: list(partialArgument),
    willContinue: flag,
  },
)

const inlineData = closed({ mimeType: text, data: text }, { displayName: text })
const fileData = closed({ fileUri: text }, { mimeType: text, displayName: text })

/** Fields besides the content of a part of any kind. */
const partWords = {
  thought: flag,
  thoughtSignature: text,
  videoMetadata: closed({}, { startOffset: text, endOffset: text, fps: decimal }),
  mediaResolution: closed({}, { level: text, numTokens: count }),
  partMetadata: anyObject,
}
const toolKind = among(
  'TOOL_TYPE_UNSPECIFIED',
  'GOOGLE_SEARCH_WEB',
  'GOOGLE_SEARCH_IMAGE',
  'URL_CONTEXT',
  'GOOGLE_MAPS',
  'FILE_SEARCH',
  'MEDIA_PROCESSING',
)

const part = either(
  closed({ text }, partWords),
  closed({ functionCall }, partWords),
  closed({ inlineData }, partWords),
  closed({ fileData }, partWords),
  closed({ executableCode: closed({ code: text }, { language: text, id: text }) }, partWords),
  closed({ codeExecutionResult: closed({ outcome: text }, { output: text, id: text }) }, partWords),
  closed({ toolCall: closed({ toolType: toolKind }, { id: text, args: anyObject }) }, partWords),
  closed({ toolResponse: closed({ toolType: toolKind }, { id: text, response: anyObject }) }, partWords),
  closed(
    {
      functionResponse: closed(
        { name: text },
        { id: text, response: anyObject, willContinue: flag, scheduling: text },
      ),
    },
    partWords,
  ),
)

const finishReason = among(
  'FINISH_REASON_UNSPECIFIED',
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'IMAGE_OTHER',
  'NO_IMAGE',
  'CONTINUATION',
)

const safetyRatings = list(
  closed(
    { category: text },
    {
      probability: text,
      probabilityScore: decimal,
      severity: text,
      severityScore: decimal,
      blocked: flag,
      overwrittenThreshold: text,
    },
  ),
)

const segment = closed({}, { startIndex: count, endIndex: count, partIndex: count, text })

const webSource = closed({ uri: text }, { title: text, domain: text })

const groundingChunk = either(
  closed({ web: webSource }),
  closed({
    image: closed({}, { domain: text, imageUri: text, sourceUri: text, title: text }),
  }),
  closed({
    retrievedContext: closed(
      {},
      {
        uri: text,
        title: text,
        text,
        documentName: text,
        fileSearchStore: text,
        mediaId: text,
        pageNumber: count,
        customMetadata: list(anyObject),
        ragChunk: anyObject,
      },
    ),
  }),
  closed({
    maps: closed(
      {},
      { uri: text, title: text, text, placeId: text, placeAnswerSources: anyObject, route: anyObject },
    ),
  }),
)

const grounding = closed(
  {},
  {
    groundingChunks: list(groundingChunk),
    groundingSupports: list(
      closed(
        {},
        {
          segment,
          groundingChunkIndices: list(count),
          confidenceScores: list(decimal),
          renderedParts: list(count),
        },
      ),
    ),
    webSearchQueries: list(text),
    imageSearchQueries: list(text),
    retrievalQueries: list(text),
    searchEntryPoint: closed({}, { renderedContent: text, sdkBlob: text }),
    retrievalMetadata: closed({}, { googleSearchDynamicRetrievalScore: decimal }),
    googleMapsWidgetContextToken: text,
    sourceFlaggingUris: list(closed({}, { flagContentUri: text, sourceId: text })),
  },
)

const tokenLogprob = closed({}, { token: text, tokenId: whole, logProbability: decimal })

const candidate = closed(
  {},
  {
    content: closed({}, { role: exactly('model'), parts: list(part) }),
    index: count,
    finishReason,
    finishMessage: text,
    tokenCount: count,
    avgLogprobs: decimal,
    safetyRatings,
    citationMetadata: closed(
      {},
      {
        citations: list(
          closed(
            {},
            {
              uri: text,
              title: text,
              license: text,
              startIndex: count,
              endIndex: count,
              publicationDate: closed({}, { year: count, month: count, day: count }),
            },
          ),
        ),
        citationSources: list(closed({}, { uri: text, license: text, startIndex: count, endIndex: count })),
      },
    ),
    groundingMetadata: grounding,
    urlContextMetadata: closed(
      {},
      { urlMetadata: list(closed({ retrievedUrl: text }, { urlRetrievalStatus: text })) },
    ),
    logprobsResult: closed(
      {},
      {
        chosenCandidates: list(tokenLogprob),
        topCandidates: list(closed({}, { candidates: list(tokenLogprob) })),
        logProbabilitySum: decimal,
      },
    ),
    continuationToken: text,
  },
)

const modalities = list(closed({ modality: text }, { tokenCount: count }))

const usage = closed(
  {},
  {
    promptTokenCount: count,
    candidatesTokenCount: count,
    totalTokenCount: count,
    cachedContentTokenCount: count,
    thoughtsTokenCount: count,
    toolUsePromptTokenCount: count,
    promptTokensDetails: modalities,
    candidatesTokensDetails: modalities,
    cacheTokensDetails: modalities,
    toolUsePromptTokensDetails: modalities,
    trafficType: text,
    serviceTier: text,
  },
)

const promptFeedback = closed({}, { blockReason: word, blockReasonMessage: text, safetyRatings })

const surroundings = {
  modelVersion: text,
  responseId: text,
  createTime: text,
  modelStatus: closed({}, { message: text, modelStage: text, retirementTime: text }),
}

/** Either there are candidates, or the reason why there are none. */
const answer = either(
  closed({ candidates: list(candidate) }, { usageMetadata: usage, promptFeedback, ...surroundings }),
  closed({ promptFeedback }, { usageMetadata: usage, ...surroundings }),
)

/** Some streams end with usage alone. */
const usageAlone = closed({ usageMetadata: usage }, surroundings)

const counted = closed(
  { totalTokens: count },
  {
    totalBillableCharacters: count,
    cachedContentTokenCount: count,
    promptTokensDetails: modalities,
    cacheTokensDetails: modalities,
  },
)

const status = closed(
  { code: whole, message: text, status: text },
  {
    details: list(anyJson),
    type: text,
    gateway_code: described('Of an error of the gateway inside a stream.', text),
    request_id: text,
    errors: list(anyObject),
  },
)

export const GEMINI_ANSWERS: JsonObject = {
  GenerateContentResponse: described('A Gemini answer, whole or one fragment of a stream.', answer),
  GenerateContentUsage: described('The last fragment of some streams.', usageAlone),
  GeminiError: described('An error in Google’s form.', closed({ error: status }, UPSTREAM_BODY)),
}

export const GEMINI_WHOLE = named('GenerateContentResponse')
export const GEMINI_EVENT = either(
  named('GenerateContentResponse'),
  named('GenerateContentUsage'),
  named('GeminiError'),
)
export const GEMINI_COUNT = counted
