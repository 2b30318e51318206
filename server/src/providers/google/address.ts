export const defaultBaseUrl = 'https://generativelanguage.googleapis.com/v1beta'
