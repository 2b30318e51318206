/** The gateway asks for this many characters at least, and knows the rest of the rule. */
export const NEW_PASSWORD_MIN = 8
