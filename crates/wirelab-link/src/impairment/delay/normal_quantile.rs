//! The normal distribution's quantile.

/// The standard normal distribution's quantile by algorithm AS 241, PPND16 (Wichura, Applied Statistics 37 (1988) 477), to about 16 digits.
pub(super) fn normal_quantile(probability: f64) -> f64 {
    const CENTRE: [[f64; 8]; 2] = [
        [
            3.3871328727963665,
            133.14166789178438,
            1971.5909503065513,
            13731.69376550946,
            45921.95393154987,
            67265.7709270087,
            33430.57558358813,
            2509.0809287301227,
        ],
        [
            1.0,
            42.31333070160091,
            687.1870074920579,
            5394.196021424751,
            21213.794301586597,
            39307.89580009271,
            28729.085735721943,
            5226.495278852854,
        ],
    ];
    const NEAR: [[f64; 8]; 2] = [
        [
            1.4234371107496835,
            4.630337846156546,
            5.769497221460691,
            3.6478483247632045,
            1.2704582524523684,
            0.2417807251774506,
            0.022723844989269184,
            0.0007745450142783414,
        ],
        [
            1.0,
            2.053191626637759,
            1.6763848301838038,
            0.6897673349851,
            0.14810397642748008,
            0.015198666563616457,
            0.0005475938084995345,
            1.0507500716444169e-9,
        ],
    ];
    const FAR: [[f64; 8]; 2] = [
        [
            6.657904643501103,
            5.463784911164114,
            1.7848265399172913,
            0.29656057182850487,
            0.026532189526576124,
            0.0012426609473880784,
            2.7115555687434876e-5,
            2.0103343992922881e-7,
        ],
        [
            1.0,
            0.599832206555888,
            0.1369298809227358,
            0.014875361290850615,
            0.0007868691311456133,
            1.8463183175100548e-5,
            1.421511758316446e-7,
            2.0442631033899397e-15,
        ],
    ];
    let ratio = |[above, below]: &[[f64; 8]; 2], x: f64| {
        let polynomial = |coefficients: &[f64; 8]| coefficients.iter().rev().fold(0.0, |sum, factor| sum * x + factor);
        polynomial(above) / polynomial(below)
    };
    let offset = probability - 0.5;
    if offset.abs() <= 0.425 {
        return offset * ratio(&CENTRE, 0.180625 - offset * offset);
    }
    // The nearest to 0 or 1 that draws of 53 bits come, but for 0 itself.
    let tail = (if offset < 0.0 { probability } else { 1.0 - probability }).max(f64::EPSILON / 4.0);
    let depth = (-libm::log(tail)).sqrt();
    let distance = if depth <= 5.0 { ratio(&NEAR, depth - 1.6) } else { ratio(&FAR, depth - 5.0) };
    distance.copysign(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_inverts_the_normal_distribution() {
        // Distribution function by the complementary error function, which keeps its digits in the tail.
        for probability in [1e-15, 1e-9, 0.001, 0.01, 0.0749, 0.0751, 0.3, 0.5, 0.7, 0.925, 0.999] {
            let back = 0.5 * libm::erfc(-normal_quantile(probability) / 2f64.sqrt());
            assert!((back / probability - 1.0).abs() < 1e-13, "{probability} becomes {back}");
        }
    }

    #[test]
    fn it_agrees_with_another_implementation() {
        // Python's statistics.NormalDist().inv_cdf.
        for (probability, quantile) in [
            (0.3, -0.5244005127080407),
            (0.01, -2.3263478740408408),
            (1e-15, -7.941345326170995),
            (0.975, 1.9599639845400536),
        ] {
            assert!((normal_quantile(probability) - quantile).abs() < 1e-14, "{probability}");
        }
    }

    #[test]
    fn it_is_finite_at_both_ends() {
        assert!((normal_quantile(0.0) + 8.2).abs() < 0.1);
        assert!((normal_quantile(1.0) - 8.2).abs() < 0.1);
    }
}
