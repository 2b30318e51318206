/**
 * Which files belong to tests though they are no tests themselves: conformance suites, laws that several folders are held
 * to, examples, naive models, and what stands in for the world outside. Import rules and tidy leave them alone.
 */
module.exports = {
  TEST_FILES: [
    '\\.(test|conformance)\\.(ts|mjs)$',
    '^server/test/',
    '/(conformance|testing)/',
    '/(laws|examples|official-clients|naive-[a-z-]+)\\.ts$',
  ].join('|'),
}
