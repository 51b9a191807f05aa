export default async function stopSuite() {
  await globalThis.sharedSuite.stop()
}
