/** Ids that the client gives itself. */

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A message's id (a ULID), so that a prompt that is sent again after a crash counts once. */
export function messageId(time = Date.now()): string {
  let head = "";
  for (let left = time, at = 0; at < 10; at += 1) {
    head = CROCKFORD.charAt(left % 32) + head;
    left = Math.floor(left / 32);
  }
  const tail = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => CROCKFORD.charAt(byte % 32)).join("");
  return `msg_${head}${tail}`;
}
