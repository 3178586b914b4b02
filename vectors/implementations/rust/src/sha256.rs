//! SHA-256 of FIPS 180-4, which the standard library lacks. Its constants are the first 32 bits of the fractions of
//! roots of primes, so they are computed. For anything but vectors, use a reviewed library.

pub fn sha256(message: &[u8]) -> [u8; 32] {
    let primes: Vec<u32> = (2..312).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    let mut state: Vec<u32> = primes[..8].iter().map(|&prime| fraction(f64::from(prime).sqrt())).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize((message.len() + 9 + 63) / 64 * 64 - 8, 0);
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let mut words: Vec<u32> =
            block.chunks(4).map(|four| u32::from_be_bytes(four.try_into().unwrap())).collect();
        for at in 16..64 {
            let (w15, w2) = (words[at - 15], words[at - 2]);
            let s0 = w15.rotate_right(7) ^ w15.rotate_right(18) ^ (w15 >> 3);
            let s1 = w2.rotate_right(17) ^ w2.rotate_right(19) ^ (w2 >> 10);
            words.push(words[at - 16].wrapping_add(s0).wrapping_add(words[at - 7]).wrapping_add(s1));
        }
        let mut v = state.clone();
        for (word, &prime) in words.iter().zip(&primes) {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let constant = fraction(f64::from(prime).cbrt());
            let one = [s1, choice, constant, *word].iter().fold(v[7], |sum, part| sum.wrapping_add(*part));
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(one);
            v[0] = one.wrapping_add(s0).wrapping_add(majority);
        }
        state.iter_mut().zip(v).for_each(|(sum, value)| *sum = sum.wrapping_add(value));
    }
    let bytes: Vec<u8> = state.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.try_into().expect("eight words")
}

fn fraction(root: f64) -> u32 {
    (root.fract() * 4_294_967_296.0) as u32
}

#[test]
fn digests_are_those_of_fips_180_4() {
    let hex = |text: &[u8]| sha256(text).iter().map(|byte| format!("{:02x}", byte)).collect::<String>();
    assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    assert_eq!(hex(two_blocks), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}
