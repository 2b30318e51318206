/** The sandbox's model names: `-reasoning` thinks aloud before it answers. */
export const SANDBOX_MODELS = ['sandbox-chat', 'sandbox-reasoning'] as const
