/** The pages of those who run the gateway, in the order of the left bar. */
export const OPERATOR_PAGES = [
  {
    to: '/operate/accounts',
    name: 'accounts',
    sign: 'M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.8c0-2.6 2-4.3 5-4.3s5 1.7 5 4.3',
  },
] as const
