/** The gateway's least length of a password; the gateway checks the other rules. */
export const NEW_PASSWORD_MIN = 8
