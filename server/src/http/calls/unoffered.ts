/** Paths of the protocols that this gateway does not offer: the error says so instead of reporting an unknown path. */
const UNOFFERED: readonly (readonly [path: RegExp, what: string])[] = [
  [
    /^\/v1\/audio\/(?!speech$|transcriptions$|translations$)/,
    'this kind of call; use /v1/audio/speech or /v1/audio/transcriptions',
  ],
  [/^\/v1\/completions$/, 'text completions; use /v1/chat/completions'],
  [
    /^\/v1\/responses\/compact$/,
    'compacting of conversations; continue one with previous_response_id, or send its whole input',
  ],
  [
    /^\/v1\/(files|uploads|vector_stores|containers)(\/|$)/,
    'stored files; send their content with the request',
  ],
  [/^\/v1\/(messages\/batches|batches)(\/|$)/, 'batches'],
  [/^\/v1\/(assistants|threads)(\/|$)/, 'assistants; use /v1/responses, which keeps conversations'],
  [/^\/v1\/(fine_tuning|fine-tunes|evals)(\/|$)/, 'training and evaluation of models'],
  [/^\/v1\/realtime(\/|$)/, 'realtime sessions'],
  [/^\/v1beta\/models\/.+:(predict|predictLongRunning)$/, 'predictions; order videos at /v1/videos'],
  [/^\/v1beta\/(files|cachedContents|tunedModels|corpora|fileSearchStores)(\/|$)/, 'storage at the provider'],
]

/** The error message for such a path; undefined: it is not one of them. */
export function unofferedSentence(path: string): string | undefined {
  const what = UNOFFERED.find(([pattern]) => pattern.test(path))?.[1]
  return what === undefined ? undefined : `this gateway does not offer ${what}`
}
