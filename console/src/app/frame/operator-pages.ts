/** The pages of those who run the gateway, in the order of the left bar. */
export const OPERATOR_PAGES = [
  {
    to: '/operate/health',
    name: 'health',
    sign: 'M2 8.5h3l2-5 3 9 2-4h2',
  },
  {
    to: '/operate/chains',
    name: 'chains',
    sign: 'M6.5 9.5a2.5 2.5 0 0 0 3.6 0l2.2-2.2a2.5 2.5 0 0 0-3.6-3.6l-.9.9M9.5 6.5a2.5 2.5 0 0 0-3.6 0L3.7 8.7a2.5 2.5 0 0 0 3.6 3.6l.9-.9',
  },
  {
    to: '/operate/vendors',
    name: 'vendors',
    sign: 'M4 7.2h8v6H4zM5.6 7.2V5a2.4 2.4 0 0 1 4.8 0v2.2',
  },
  {
    to: '/operate/models',
    name: 'models',
    sign: 'M8 2 13.5 5v6L8 14l-5.5-3V5zM2.5 5 8 8l5.5-3M8 8v6',
  },
  {
    to: '/operate/accounts',
    name: 'accounts',
    sign: 'M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.8c0-2.6 2-4.3 5-4.3s5 1.7 5 4.3',
  },
  {
    to: '/operate/keys',
    name: 'keys',
    sign: 'M10.2 2.6a3.2 3.2 0 1 1-2.4 5.3L3.4 12.3v1.2H2V12l5-5a3.2 3.2 0 0 1 3.2-4.4zM10.8 5.4h.01',
  },
  {
    to: '/operate/calls',
    name: 'calls',
    sign: 'M2.5 4h11M2.5 8h7M2.5 12h9M13 8h.01',
  },
  {
    to: '/operate/usage',
    name: 'usage',
    sign: 'M2.5 13.5h11M4.5 13V8.5M8 13V3M11.5 13V6',
  },
  {
    to: '/operate/money',
    name: 'money',
    sign: 'M2.5 5.5v7h11v-7zM2.5 5.5 10 2.5v3M10.8 9h.01',
  },
  {
    to: '/operate/videos',
    name: 'videos',
    sign: 'M2 4.5h8.5v7H2zM10.5 7.2 14 5v6l-3.5-2.2',
  },
  {
    to: '/operate/trust',
    name: 'trust',
    sign: 'M8 1.8 13.2 4v4c0 3-2.1 5.2-5.2 6.2C4.9 13.2 2.8 11 2.8 8V4zM5.8 8l1.6 1.6L10.4 6.6',
  },
  {
    to: '/operate/announcements',
    name: 'announcements',
    sign: 'M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3zM6.8 14h2.4',
  },
  {
    to: '/operate/settings',
    name: 'settings',
    sign: 'M2.5 4.5h6M12 4.5h1.5M2.5 11.5H4M7.5 11.5h6M10.2 6.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM5.8 13.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4z',
  },
] as const
