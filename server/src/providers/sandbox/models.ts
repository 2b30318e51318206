/** The sandbox's model names: `-reasoning` reasons before it answers. */
export const SANDBOX_MODELS = ['sandbox-chat', 'sandbox-reasoning'] as const

/** Turns texts into vectors. */
export const SANDBOX_EMBEDDING_MODEL = 'sandbox-embed'

/** Classifies texts. */
export const SANDBOX_MODERATION_MODEL = 'sandbox-moderate'

/** Puts documents in order. */
export const SANDBOX_RERANK_MODEL = 'sandbox-rerank'

/** Makes images. */
export const SANDBOX_IMAGE_MODEL = 'sandbox-image'

/** Turns text into speech. */
export const SANDBOX_SPEECH_MODEL = 'sandbox-voice'

/** Transcribes sound. */
export const SANDBOX_TRANSCRIPTION_MODEL = 'sandbox-listen'

/** Makes videos; any other name is refused, as by a vendor. */
export const SANDBOX_VIDEO_MODEL = 'sandbox-video'
