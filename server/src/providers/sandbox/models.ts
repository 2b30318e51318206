/** The sandbox's model names: `-reasoning` reasons before it answers. */
export const SANDBOX_MODELS = ['sandbox-chat', 'sandbox-reasoning'] as const

/** Makes vectors out of texts. */
export const SANDBOX_EMBEDDING_MODEL = 'sandbox-embed'

/** Judges texts. */
export const SANDBOX_MODERATION_MODEL = 'sandbox-moderate'

/** Puts documents in order. */
export const SANDBOX_RERANK_MODEL = 'sandbox-rerank'

/** Makes pictures. */
export const SANDBOX_IMAGE_MODEL = 'sandbox-image'

/** Speaks texts. */
export const SANDBOX_SPEECH_MODEL = 'sandbox-voice'

/** Writes down what it hears. */
export const SANDBOX_TRANSCRIPTION_MODEL = 'sandbox-listen'

/** Makes videos; any other name is refused, as a vendor does. */
export const SANDBOX_VIDEO_MODEL = 'sandbox-video'
